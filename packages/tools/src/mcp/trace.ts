/**
 * Returns the active span as the fields that MCP has for it: https://www.w3.org/TR/trace-context/. Baggage is not sent, because it may
 * have data that is not for the server.
 */
export async function traceMeta(): Promise<Record<string, string> | undefined> {
  const otel = await (loaded ??= load())
  const span = otel?.trace.getActiveSpan()?.spanContext()
  if (otel === undefined || span === undefined || !otel.isSpanContextValid(span)) return undefined
  const flags = span.traceFlags.toString(16).padStart(2, '0')
  const state = span.traceState?.serialize()
  return { traceparent: `00-${span.traceId}-${span.spanId}-${flags}`, ...(state && { tracestate: state }) }
}

type Otel = typeof import('@opentelemetry/api')

let loaded: Promise<Otel | undefined> | undefined

/** An optional peer dependency: without it, calls have no trace. */
function load(): Promise<Otel | undefined> {
  return import('@opentelemetry/api').catch(() => undefined)
}
