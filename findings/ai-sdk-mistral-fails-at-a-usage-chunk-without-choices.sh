#!/usr/bin/env bash
# @ai-sdk/mistral 4.0.87 on Node 20: servers that speak the protocol of OpenAI send the usage in a last chunk of its own, with an empty list of
# choices. Behind such a gateway the stream of this package breaks with a TypeError after the answer is complete, so the whole call fails.
# @ai-sdk/openai-compatible reads the same stream.
# Seen on 2026-11-30. Output: "Hello | TypeError". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error @ai-sdk/mistral@4.0.87
cat > usage.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createMistral } from '@ai-sdk/mistral'

const chunks = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } },
].map((chunk) => ({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...chunk }))
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const model = createMistral({ baseURL: `http://127.0.0.1:${server.address().port}`, apiKey: 'none' })('m')
const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }] })
const seen = []
try {
  for await (const part of stream) if (part.type === 'text-delta') seen.push(part.delta)
  seen.push('ended')
} catch (error) {
  seen.push(error.name)
}
console.log(seen.filter(Boolean).join(' | '))
server.close()
JS
output=$(npx -y node@20.20.2 usage.mjs)
echo "$output"
[ "$output" = 'Hello | TypeError' ]
