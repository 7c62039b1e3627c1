#!/usr/bin/env bash
# @mistralai/mistralai 2.7.0, on Node 20: chat.stream() checks each event against the schema of a piece of an answer. If a server or a gateway reports an error
# within the stream, as `data: {"error":{…}}`, which openai 6.49.0 throws as an APIError with the provider's message, the client throws
# a ZodError about the missing id, model and choices. The message, "overloaded", is nowhere in it, so an overload cannot be told from
# a wrong answer, and whoever retries overloads does not.
# Seen on 2026-12-01. Output: "openai: Hel, APIError, has the message" and "mistral: Hel, ZodError, without the message". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error @mistralai/mistralai@2.7.0 openai@6.49.0
cat > overloaded.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { inspect } from 'node:util'
import { Mistral } from '@mistralai/mistralai'
import OpenAI from 'openai'

const choices = [{ index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }]
const events = [{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices }, { error: { message: 'overloaded', code: 503 } }]
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}`
const messages = [{ role: 'user', content: 'Hi' }]
const clients = {
  async *openai() {
    const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 })
    for await (const piece of await client.chat.completions.create({ model: 'm', messages, stream: true })) yield piece
  },
  async *mistral() {
    const client = new Mistral({ apiKey: 'none', serverURL: url })
    for await (const { data } of await client.chat.stream({ model: 'm', messages })) yield data
  },
}
for (const [name, pieces] of Object.entries(clients)) {
  let text = ''
  try {
    for await (const piece of pieces()) text += piece.choices[0].delta.content
    console.log(`${name}: ${text}, no error`)
  } catch (error) {
    const known = inspect(error, { depth: 9 }).includes('overloaded') ? 'has the message' : 'without the message'
    console.log(`${name}: ${text}, ${error.constructor.name}, ${known}`)
  }
}
server.close()
server.closeAllConnections()
JS
output=$(npx -y node@20.20.2 overloaded.mjs)
echo "$output"
[ "$output" = 'openai: Hel, APIError, has the message
mistral: Hel, ZodError, without the message' ]
