#!/usr/bin/env bash
# @ai-sdk/openai 4.0.118, chat models, on Node 20: a gateway that fails in the middle of an answer sends one more chunk with a choice whose
# finish_reason is "error", and the error beside it, as OpenRouter documents it. The package reads the choice only: no part of type "error",
# the message and the code are gone, and the half answer ends with the reason "other". A caller has to read the raw reason, or the raw chunks.
# Seen on 2026-11-30. Output: 'Half | finish {"unified":"other","raw":"error"}'. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error @ai-sdk/openai@4.0.118
cat > half.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createOpenAI } from '@ai-sdk/openai'

const chunks = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'Half' }, finish_reason: null }] },
  {
    choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    error: { code: 502, message: 'The provider disconnected.' },
  },
].map((chunk) => ({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...chunk }))
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const baseURL = `http://127.0.0.1:${server.address().port}`
const model = createOpenAI({ baseURL, apiKey: 'none' }).chat('m')
const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }] })
const seen = []
for await (const part of stream) {
  if (part.type === 'text-delta') seen.push(part.delta)
  if (part.type === 'error') seen.push(`error ${part.error.message}`)
  if (part.type === 'finish') seen.push(`finish ${JSON.stringify(part.finishReason)}`)
}
console.log(seen.filter(Boolean).join(' | '))
server.close()
JS
output=$(npx -y node@20.20.2 half.mjs)
echo "$output"
[ "$output" = 'Half | finish {"unified":"other","raw":"error"}' ]
