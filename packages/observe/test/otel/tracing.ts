import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, context, ROOT_CONTEXT } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'

/** The real SDK, with spans in memory. */
export function memoryTracing() {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const spans = () => exporter.getFinishedSpans()
  const named = (name: string) => {
    const found = spans().find((span) => span.name === name)
    if (found === undefined) throw new Error(`There is no span "${name}" among ${spans().map((span) => span.name)}`)
    return found
  }
  return { tracer: provider.getTracer('test'), provider, spans, named, tree: () => treeOf(spans()) }
}

/** Names of spans, each below its parent, in the order in which they began. */
function treeOf(spans: readonly ReadableSpan[]): string {
  const lines: string[] = []
  const ids = new Set(spans.map((span) => span.spanContext().spanId))
  const inOrder = [...spans].sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
  const add = (parent: string | undefined, indent: string) => {
    for (const span of inOrder) {
      const above = span.parentSpanContext?.spanId
      if (parent === undefined ? above !== undefined && ids.has(above) : above !== parent) continue
      lines.push(indent + span.name)
      add(span.spanContext().spanId, `${indent}  `)
    }
  }
  add(undefined, '')
  return lines.join('\n')
}

/** What an application registers so that spans are found across awaits, for as long as `work` runs. */
export async function withContextManager<T>(work: () => Promise<T>): Promise<T> {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, fn, self, ...args) => storage.run(active, () => fn.apply(self as never, args)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  context.setGlobalContextManager(manager)
  try {
    return await work()
  } finally {
    context.disable()
  }
}
