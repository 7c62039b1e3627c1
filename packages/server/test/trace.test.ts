import { AsyncLocalStorage } from 'node:async_hooks'
import { trace } from '@allium/observe/otel'
import { type Context, context, ROOT_CONTEXT } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { expect, onTestFinished, test } from 'vitest'
import { agentOf, ask, listen } from './kit.ts'
import { rpc } from './mcp/rpc.ts'

function manage(): void {
  const storage = new AsyncLocalStorage<Context>()
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, fn, self, ...args) => storage.run(active, () => fn.call(self as never, ...args)),
    bind: (_, target) => target,
    enable: () => context as never,
    disable: () => context as never,
  })
  onTestFinished(() => context.disable())
}

const traceId = 'a'.repeat(32)
const spanId = 'b'.repeat(16)

test.each([
  [`00-${traceId}-${spanId}-01`, traceId, spanId],
  [`00-${'0'.repeat(32)}-${spanId}-01`, undefined, undefined],
  ['garbage', undefined, undefined],
])('the turn of a request with the traceparent %s stands below it', async (traceparent, ofTrace, parent) => {
  manage()
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const { url } = await listen(agentOf(['Hi.']).use(trace({ tracer: provider.getTracer('test') })))
  await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: { traceparent } })
  const turn = exporter.getFinishedSpans().find(({ name }) => name.startsWith('invoke_agent'))
  expect(turn?.parentSpanContext?.spanId).toBe(parent)
  if (ofTrace !== undefined) expect(turn?.spanContext().traceId).toBe(ofTrace)
})

test.each([
  ['a trace context in _meta', `00-${traceId}-${spanId}-01`, spanId],
  ['garbage in _meta', 'garbage\n', undefined],
])('the turn of a call by MCP with %s stands below it', async (_, traceparent, parent) => {
  manage()
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const { url } = await listen(agentOf(['Hi.']).use(trace({ tracer: provider.getTracer('test') })), { mcp: true })
  await rpc(url, 'tools/call', { name: 'agent', arguments: { message: 'Hi' } }, { meta: { traceparent } })
  const turn = exporter.getFinishedSpans().find(({ name }) => name.startsWith('invoke_agent'))
  expect([turn === undefined, turn?.parentSpanContext?.spanId]).toEqual([false, parent])
})
