type Otel = typeof import('@opentelemetry/api')

let loaded: Promise<Otel | undefined> | undefined

/**
 * Handles a request within the trace that its `traceparent` names: https://www.w3.org/TR/trace-context/. Layers that trace find it if
 * the application has OpenTelemetry with a context manager. An active span, as from HTTP instrumentation, takes precedence.
 */
export async function withTrace(
  request: { readonly headers: Pick<Headers, 'get'> },
  answer: () => Promise<void>,
): Promise<void> {
  const parent = parentOf(request.headers.get('traceparent'))
  const otel = parent && (await (loaded ??= load()))
  if (parent === undefined || otel === undefined || otel.trace.getActiveSpan() !== undefined) return answer()
  const state = request.headers.get('tracestate')
  const remote = { ...parent, isRemote: true, ...(state !== null && { traceState: otel.createTraceState(state) }) }
  return otel.context.with(otel.trace.setSpanContext(otel.context.active(), remote), answer)
}

interface Parent {
  traceId: string
  spanId: string
  traceFlags: number
}

/** Returns undefined for an invalid header. Of a future version, reads the first four fields. */
function parentOf(header: string | null): Parent | undefined {
  const [, version, traceId, spanId, flags] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(header ?? '') ?? []
  if (version === undefined || version === 'ff' || traceId === undefined || spanId === undefined) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags ?? '00', 16) & 1 }
}

/** An optional peer dependency: without it, requests are not traced. */
function load(): Promise<Otel | undefined> {
  return import('@opentelemetry/api').catch(() => undefined)
}
