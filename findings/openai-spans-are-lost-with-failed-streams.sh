#!/usr/bin/env bash
# @opentelemetry/instrumentation-openai 0.21.0 and @traceloop/instrumentation-openai 0.27.0 with openai 6.49.0, on Node 20: the span of a
# streamed chat call ends only when its stream was read to its end. If the reader leaves early, if the connection is cut, or if the provider
# reports an error within the stream, no span is exported: the trace shows no call, so failed and stopped answers count neither as calls
# nor as errors. Dashboards of error rates with these packages see only the errors before the first chunk.
# Seen on 2026-11-30. Output: each package with "whole: 1 span, left: 0 spans, cut: 0 spans, failed: 0 spans". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true }' > package.json
npm install --no-audit --no-fund --loglevel=error openai@6.49.0 @opentelemetry/api@1.9.1 @opentelemetry/instrumentation@0.223.0 \
  @opentelemetry/sdk-trace-base@2.12.1 @opentelemetry/sdk-trace-node@2.12.1 @opentelemetry/instrumentation-openai@0.21.0 @traceloop/instrumentation-openai@0.27.0
cat > spans.cjs <<'JS'
const { once } = require('node:events')
const { createServer } = require('node:http')
const { setTimeout: sleep } = require('node:timers/promises')
const { registerInstrumentations } = require('@opentelemetry/instrumentation')
const { InMemorySpanExporter, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-base')
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')

const name = process.argv[2]
const exporter = new InMemorySpanExporter()
const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
tracerProvider.register()
const { OpenAIInstrumentation } = require(name)
registerInstrumentations({ tracerProvider, instrumentations: [new OpenAIInstrumentation()] })
const { OpenAI } = require('openai')

const chunk = (delta, finish_reason = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-x',
  choices: [{ index: 0, delta, finish_reason }],
})
const line = (data) => `data: ${JSON.stringify(data)}\n\n`
const rest = {
  whole: (response) => response.end(`${line(chunk({ content: 'lo' }))}${line(chunk({}, 'stop'))}data: [DONE]\n\n`),
  cut: (response) => response.destroy(),
  failed: (response) => response.end(line({ error: { message: 'Overloaded', type: 'server_error' } })),
}
rest.left = rest.whole
let kind
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(line(chunk({ role: 'assistant', content: 'Hel' })))
  setTimeout(() => rest[kind](response), 50)
}).listen(0, '127.0.0.1')

async function main() {
  await once(server, 'listening')
  const baseURL = `http://127.0.0.1:${server.address().port}/v1`
  const client = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 })
  const found = []
  for (kind of ['whole', 'left', 'cut', 'failed']) {
    exporter.reset()
    const stream = await client.chat.completions.create({ model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }], stream: true })
    try {
      for await (const _ of stream) if (kind === 'left') break
    } catch {}
    await sleep(500)
    const { length } = exporter.getFinishedSpans()
    found.push(`${kind}: ${length} ${length === 1 ? 'span' : 'spans'}`)
  }
  console.log(`${name}: ${found.join(', ')}`)
  server.close()
}
main()
JS
output=$(for name in @opentelemetry/instrumentation-openai @traceloop/instrumentation-openai; do npx -y node@20.20.2 spans.cjs "$name"; done)
echo "$output"
[ "$output" = '@opentelemetry/instrumentation-openai: whole: 1 span, left: 0 spans, cut: 0 spans, failed: 0 spans
@traceloop/instrumentation-openai: whole: 1 span, left: 0 spans, cut: 0 spans, failed: 0 spans' ]
