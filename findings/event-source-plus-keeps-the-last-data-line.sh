#!/usr/bin/env bash
# event-source-plus 0.1.15, on Node 20: of an event with several "data:" lines, onMessage() gets the last one alone, where the format joins
# them with line breaks. A text that a server splits at its line breaks, as most libraries for servers do, loses all lines but one of each
# event, and formatted JSON does not parse. A server whose events this client reads should send one line of data per event.
# Seen on 2026-11-30, beside eventsource-parser 3.0.6. Output: 'eventsource-parser: "first line\nsecond line"', then
# 'event-source-plus: "second line"'. Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error event-source-plus@0.1.15 eventsource-parser@3.0.6
cat > lines.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { EventSourcePlus } from 'event-source-plus'
import { createParser } from 'eventsource-parser'

const body = 'data: first line\ndata: second line\n\n'
createParser({ onEvent: ({ data }) => console.log('eventsource-parser:', JSON.stringify(data)) }).feed(body)
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(body)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const source = new EventSourcePlus(`http://127.0.0.1:${server.address().port}`, { retryStrategy: 'on-error' })
const listening = source.listen({
  onMessage({ data }) {
    console.log('event-source-plus:', JSON.stringify(data))
    listening.abort()
    server.close()
  },
})
JS
output=$(npx -y node@20.20.2 lines.mjs)
echo "$output"
[ "$output" = 'eventsource-parser: "first line\nsecond line"
event-source-plus: "second line"' ]
