import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

export type Records = ReturnType<typeof openRecords>

/** Log, audit trail and trace in memory. A service would use pino, a file and its tracer. */
export function openRecords() {
  const lines = { log: [] as string[], audit: [] as string[] }
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const write = (fields: object, message: string) => lines.log.push(JSON.stringify({ message, ...fields }))
  return {
    logger: { debug: write, info: write, warn: write, error: write },
    sink: (line: string) => lines.audit.push(line),
    tracer: provider.getTracer('pii-chat'),
    /** Everything that was stored, as text. */
    kept: () => ({
      log: lines.log.join('\n'),
      audit: lines.audit.join('\n'),
      trace: exporter
        .getFinishedSpans()
        .map(({ name, attributes, events, status }) => JSON.stringify({ name, attributes, events, status }))
        .join('\n'),
    }),
  }
}
