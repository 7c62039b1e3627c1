#!/usr/bin/env bash
# @google/genai 2.32.0, on Node 20: generateContentStream() skips each event that begins with a line other than "data:". Where a gateway
# numbers the events of Gemini, with an "id:" line before the data as the format allows, the stream has no chunk, and ends without an error:
# the answer is empty, and no usage is counted. With the number behind the data, it throws a SyntaxError. A gateway in front of this client
# should send the "data:" line alone.
# Seen on 2026-11-30. Output: "as Gemini sends it: 2 chunks, Hello" and "numbered: 0 chunks, ". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error @google/genai@2.32.0
cat > numbered.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { GoogleGenAI } from '@google/genai'

const chunk = (text, rest) => ({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...rest }] })
const events = [chunk('Hel'), chunk('lo', { finishReason: 'STOP' })].map((one) => `data: ${JSON.stringify(one)}\n\n`)
let isNumbered = false
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(events.map((event, at) => (isNumbered ? `id: ${at}\n${event}` : event)).join(''))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const baseUrl = `http://127.0.0.1:${server.address().port}`
const ai = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } })
for (const name of ['as Gemini sends it', 'numbered']) {
  isNumbered = name === 'numbered'
  const texts = []
  for await (const { text } of await ai.models.generateContentStream({ model: 'gemini-x', contents: 'Hi' })) texts.push(text)
  console.log(`${name}: ${texts.length} chunks, ${texts.join('')}`)
}
server.close()
JS
output=$(npx -y node@20.20.2 numbered.mjs)
echo "$output"
[ "$output" = 'as Gemini sends it: 2 chunks, Hello
numbered: 0 chunks, ' ]
