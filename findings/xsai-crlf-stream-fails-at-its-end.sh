#!/usr/bin/env bash
# @xsai/stream-text 0.4.4, on Node 20: streamText() splits the stream at "\n" alone. From a server that ends its lines with "\r\n", as
# the format allows and sse-starlette does by default, it parses "[DONE]\r" as JSON and throws a SyntaxError. So each whole answer looks like
# a failed one, often without its last piece, and a caller that retries pays twice. A server for this client should end lines with "\n".
# Seen on 2026-11-30. Output: "LF: Hello", "CRLF: SyntaxError". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error @xsai/stream-text@0.4.4
cat > crlf.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { streamText } from '@xsai/stream-text'

const chunk = (delta, finish_reason = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})
const events = [chunk({ role: 'assistant', content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'stop')]
const lines = [...events.map((one) => JSON.stringify(one)), '[DONE]']
let end = '\n'
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(lines.map((line) => `data: ${line}${end}${end}`).join(''))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const baseURL = `http://127.0.0.1:${server.address().port}/v1/`
for (const [name, own] of [['LF', '\n'], ['CRLF', '\r\n']]) {
  end = own
  const result = streamText({ apiKey: 'none', baseURL, model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
  for (const value of [result.usage, result.totalUsage, result.messages, result.steps]) value.catch(() => {})
  let text = ''
  try {
    for await (const piece of result.textStream) text += piece
    console.log(`${name}: ${text}`)
  } catch (error) {
    console.log(`${name}: ${error.name}`)
  }
}
server.close()
JS
output=$(npx -y node@20.20.2 crlf.mjs)
echo "$output"
[ "$output" = 'LF: Hello
CRLF: SyntaxError' ]
