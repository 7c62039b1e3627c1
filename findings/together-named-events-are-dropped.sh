#!/usr/bin/env bash
# together-ai 0.52.0, on Node 20: of a stream of server-sent events, the client reads only events without a name. From a gateway that names
# them "message", which is the name that the format gives to events without one, the answer is empty, with no error. An event "error" in the middle of
# an answer is dropped as well, so half an answer looks whole. groq-sdk 1.6.0, from the same generator, reads both. A gateway in
# front of this client should leave the names out, and report errors as events without a name.
# Seen on 2026-12-01. Output: the four lines at the end. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error together-ai@0.52.0 groq-sdk@1.6.0
cat > named.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import Groq from 'groq-sdk'
import Together from 'together-ai'

const piece = (delta, finish_reason = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})
const pieces = [piece({ role: 'assistant', content: 'Hel' }), piece({ content: 'lo' }), piece({}, 'stop')]
const data = (value) => `data: ${JSON.stringify(value)}\n\n`
const streams = {
  named: [...pieces.map((one) => `event: message\n${data(one)}`), 'data: [DONE]\n\n'],
  failed: [data(pieces[0]), `event: error\n${data({ error: { message: 'overloaded' } })}`],
}
let stream
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(stream.join(''))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const options = { apiKey: 'none', baseURL: `http://127.0.0.1:${server.address().port}`, maxRetries: 0 }
const clients = { together: new Together(options), groq: new Groq(options) }
for (const [name, client] of Object.entries(clients))
  for (const kind of ['named', 'failed']) {
    stream = streams[kind]
    let text = ''
    try {
      const answer = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true })
      for await (const { choices } of answer) text += choices[0].delta.content ?? ''
      console.log(`${name}, ${kind}: "${text}"`)
    } catch {
      console.log(`${name}, ${kind}: "${text}", then an error`)
    }
  }
server.close()
server.closeAllConnections()
JS
output=$(npx -y node@20.20.2 named.mjs)
echo "$output"
[ "$output" = 'together, named: ""
together, failed: "Hel"
groq, named: "Hello"
groq, failed: "Hel", then an error' ]
