#!/usr/bin/env bash
# @arizeai/openinference-instrumentation-openai 4.2.7 with openai 6.49.0, on Node 20: the instrumentation reads a copy of each streamed
# answer, to its end. If the reader leaves the loop after the first chunk, the client alone would close the connection. With the
# instrumentation it stays open until the provider has sent everything: the model goes on, its tokens are paid, and the span has the text that
# nobody read. Aborting the signal of the request still stops it.
# Seen on 2026-11-30. Output: "alone: left after 1 of 20 chunks" and "instrumented: left after 20 of 20 chunks". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true }' > package.json
npm install --no-audit --no-fund --loglevel=error openai@6.49.0 @opentelemetry/api@1.9.1 @opentelemetry/sdk-trace-node@2.12.1 \
  @arizeai/openinference-instrumentation-openai@4.2.7
cat > leaves.cjs <<'JS'
const { once } = require('node:events')
const { createServer } = require('node:http')
const { setTimeout: sleep } = require('node:timers/promises')
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
const { OpenAIInstrumentation } = require('@arizeai/openinference-instrumentation-openai')
const openai = require('openai')

const isInstrumented = process.argv[2] === 'instrumented'
if (isInstrumented) new OpenAIInstrumentation({ tracerProvider: new NodeTracerProvider() }).manuallyInstrument(openai)
let sent = 0
let ended
const server = createServer(async (_, response) => {
  let isClosed = false
  response.on('close', () => (isClosed = true))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const choices = [{ index: 0, delta: { content: 'word ' }, finish_reason: null }]
  while (sent < 20 && !isClosed) {
    response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices })}\n\n`)
    sent++
    await sleep(100)
  }
  response.end('data: [DONE]\n\n')
  ended()
}).listen(0, '127.0.0.1')

async function main() {
  await once(server, 'listening')
  const done = new Promise((resolve) => (ended = resolve))
  const client = new openai.OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${server.address().port}/v1`, maxRetries: 0 })
  const stream = await client.chat.completions.create({ model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }], stream: true })
  for await (const _ of stream) break
  await done
  // Of a closed connection, one more chunk may have been on its way.
  console.log(`${process.argv[2]}: left after ${sent <= 3 ? 1 : sent} of 20 chunks`)
  server.close()
  server.closeAllConnections()
}
main()
JS
output=$(for name in alone instrumented; do npx -y node@20.20.2 leaves.cjs "$name"; done)
echo "$output"
[ "$output" = 'alone: left after 1 of 20 chunks
instrumented: left after 20 of 20 chunks' ]
