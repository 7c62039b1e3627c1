#!/usr/bin/env bash
# deep-chat 2.4.2 in Chromium, connected to OpenAI's Responses: a text that comes together with the end of its stream is shown as an
# error ("No valid stream events were sent"), because events are read asynchronously and the end is not. With a pause of 200 ms between
# the text and the end, the same events are shown as an answer. A server that answers at once, as from a cache, meets this.
# Seen on 2026-11-29. Output: "at once: an error" and "with a pause: Hello." Needs Chromium in /usr/bin. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error deep-chat@2.4.2 playwright-core@1.65.1
cat > ends.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { chromium } from 'playwright-core'

let pause = 0
const server = createServer(async (request, response) => {
  if (request.method === 'GET') return response.setHeader('content-type', 'text/html').end('<body></body>')
  response.setHeader('content-type', 'text/event-stream')
  const event = { type: 'response.output_text.delta', delta: 'Hello.' }
  response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  await setTimeout(pause)
  response.end('data: [DONE]\n\n')
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}`
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })

async function shown() {
  const page = await browser.newPage()
  await page.goto(url)
  await page.addScriptTag({ path: 'node_modules/deep-chat/dist/deepChat.bundle.js', type: 'module' })
  return page.evaluate(async (url) => {
    await customElements.whenDefined('deep-chat')
    const chat = document.createElement('deep-chat')
    chat.directConnection = { openAI: { key: 'none', chat: { model: 'any' } } }
    chat.connect = { url: `${url}/v1/responses`, stream: true }
    const rendered = new Promise((resolve) => (chat.onComponentRender = resolve))
    document.body.append(chat)
    await rendered
    const answered = new Promise((resolve) => {
      chat.onMessage = ({ message }) => message.role === 'ai' && resolve(message.text)
      chat.onError = () => resolve('an error')
    })
    chat.submitUserMessage({ text: 'Hi' })
    return answered
  }, url)
}

console.log(`at once: ${await shown()}`)
pause = 200
console.log(`with a pause: ${await shown()}`)
await browser.close()
server.closeAllConnections()
server.close()
JS
output=$(npx -y node@20.20.2 ends.mjs)
echo "$output"
[ "$output" = $'at once: an error\nwith a pause: Hello.' ]
