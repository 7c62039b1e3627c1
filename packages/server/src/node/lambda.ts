import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AlliumError } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { Server } from '../app/server.ts'
import { errorFormatOf } from '../http/error-formats.ts'

/** The event of a function URL: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads */
export interface LambdaEvent {
  readonly rawPath: string
  readonly rawQueryString?: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly cookies?: readonly string[]
  readonly requestContext: { readonly domainName: string; readonly http: { readonly method: string } }
  readonly body?: string
  readonly isBase64Encoded?: boolean
}

/** The part of Lambda's context that is used. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number
}

/** Handles one event, and resolves when the response is complete. */
export type StreamingHandler = (event: LambdaEvent, responseStream: Writable, context: LambdaContext) => Promise<void>

/** The global `awslambda` of Lambda's Node runtimes. */
export interface LambdaRuntime {
  streamifyResponse(handler: StreamingHandler): unknown
  HttpResponseStream: {
    from(
      stream: Writable,
      metadata: { statusCode: number; headers: Record<string, string>; cookies: string[] },
    ): Writable
  }
}

export interface LambdaOptions {
  /**
   * How long before the function's timeout the request ends as if its client had disconnected, in milliseconds. With
   * `onDisconnect: 'abort'`, the run is then stored. @default 3000
   */
  margin?: number | undefined
  /** @default the global `awslambda` */
  runtime?: LambdaRuntime | undefined
}

const optionKeys: KeysOf<LambdaOptions> = { margin: true, runtime: true }

/**
 * Returns the server as a handler of AWS Lambda that streams its responses. The function needs a URL with the invoke mode
 * `RESPONSE_STREAM`.
 *
 * A function is frozen after its response. Use `onDisconnect: 'abort'` and a store outside of the function.
 *
 * @throws AlliumError `server.options` outside of Lambda
 * @example
 * export const handler = lambdaHandler(server(agent, { principal, onDisconnect: 'abort' }))
 */
export function lambdaHandler(server: Pick<Server, 'fetch' | 'idle'>, options: LambdaOptions = {}): unknown {
  checkOptions(options, optionKeys, 'lambdaHandler()', 'server.options')
  const { margin = 3000, runtime = (globalThis as { awslambda?: LambdaRuntime }).awslambda } = options
  if (runtime === undefined)
    throw new AlliumError(
      'server.options',
      'lambdaHandler() needs the global `awslambda`, which only the Node runtimes of AWS Lambda have. Elsewhere, use serve().',
    )
  return runtime.streamifyResponse(async (event, responseStream, context) => {
    const request = new AbortController()
    const timer = setTimeout(() => request.abort(), Math.max(0, context.getRemainingTimeInMillis() - margin))
    try {
      const parsed = toRequest(event, request.signal)
      const response = parsed === undefined ? malformed(event) : await server.fetch(parsed)
      await send(response, responseStream, runtime)
    } catch {
      // The client has disconnected.
    } finally {
      clearTimeout(timer)
      request.abort()
      // Lambda freezes the function after this, and a run that was aborted is still being stored.
      await server.idle()
    }
  })
}

/** Returns undefined for an event that is no HTTP request, such as one with an invalid header or the method TRACE. */
function toRequest(event: LambdaEvent, signal: AbortSignal): Request | undefined {
  try {
    return requestOf(event, signal)
  } catch {
    return undefined
  }
}

function requestOf(event: LambdaEvent, signal: AbortSignal): Request {
  const { rawPath, rawQueryString = '', requestContext, body, isBase64Encoded = false, cookies = [] } = event
  const headers = new Headers()
  for (const [name, value] of Object.entries(event.headers)) if (value !== undefined) headers.set(name, value)
  if (cookies.length > 0) headers.set('cookie', cookies.join('; '))
  const query = rawQueryString === '' ? '' : `?${rawQueryString}`
  return new Request(`https://${requestContext.domainName}${rawPath}${query}`, {
    method: requestContext.http.method,
    headers,
    signal,
    ...(body !== undefined && { body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8') }),
  })
}

/** Without a response, the function's URL would answer 502. */
function malformed({ rawPath }: LambdaEvent): Response {
  const message = 'The event is not a valid HTTP request. Check its method, its headers, its domain name and its body.'
  const errorFormat = errorFormatOf(rawPath)
  const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  const body = errorFormat({ status: 400, code: 'request.invalid', message }, crypto.randomUUID())
  return Response.json(body, { status: 400, headers })
}

async function send(response: Response, responseStream: Writable, runtime: LambdaRuntime): Promise<void> {
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== 'set-cookie'))
  const metadata = { statusCode: response.status, headers, cookies: response.headers.getSetCookie() }
  const stream = runtime.HttpResponseStream.from(responseStream, metadata)
  if (response.body !== null) return pipeline(Readable.fromWeb(response.body as never), stream)
  // Without a write, Lambda does not send the status.
  stream.write('')
  stream.end()
}
