#!/usr/bin/env bash
# @ag-ui/client 1.0.0, on Node 20: runAgent() resolves when the stream of events ends in the middle of a message, without RUN_FINISHED and
# without RUN_ERROR, as after a deploy of the server or behind a proxy with a time limit. The half message is among the new messages, so
# a page cannot tell it from a whole answer. A server that can still write should end each run with RUN_ERROR.
# Seen on 2026-11-29, HttpAgent. Output: "cut: resolved with Half an ans". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module" }' > package.json
npm install --no-audit --no-fund --loglevel=error @ag-ui/client@1.0.0
cat > cut.mjs <<'JS'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { HttpAgent } from '@ag-ui/client'

const events = [
  { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
  { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Half an ans' },
]
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const agent = new HttpAgent({ url: `http://127.0.0.1:${server.address().port}/` })
agent.addMessage({ id: 'u', role: 'user', content: 'Hello.' })
await agent.runAgent().then(
  ({ newMessages }) => console.log(`cut: resolved with ${newMessages[0]?.content}`),
  (error) => console.log(`cut: rejected with ${error.message}`),
)
server.close()
JS
output=$(npx -y node@20.20.2 cut.mjs)
echo "$output"
[ "$output" = 'cut: resolved with Half an ans' ]
