import type { Clock } from '@allium/core'

/** The connection of a client to its server. */
export interface Transport {
  readonly url: string
  readonly headers: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly attempts: number
  /** Waits before another attempt, counted from 1. */
  readonly wait: (attempt: number, retryAfter: number) => Promise<void>
  readonly clock: Pick<Clock, 'after'>
}

/** An error that the server returned or the client detected. `code` is one of the table of error codes. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: string
  /** The HTTP status, also for an error in a stream; undefined without a response. */
  readonly status: number | undefined
  /** Identifies the line in the server's log. */
  readonly requestId: string | undefined
  /** Milliseconds after which a retry makes sense. */
  readonly retryAfter: number | undefined

  constructor(
    message: string,
    details: { code: string; status?: number; requestId?: string | undefined; retryAfter?: number | undefined },
  ) {
    super(message)
    this.code = details.code
    this.status = details.status
    this.requestId = details.requestId
    this.retryAfter = details.retryAfter
  }
}

/**
 * Returns a name as a path segment. Rejects `.`, `..` and an empty name, because a URL with one of them names another path.
 *
 * @throws ClientError `session.invalid_id` for these, and for names that no server accepts
 */
export function pathSegment(name: string, subject: string): string {
  const isSegment = typeof name === 'string' && name.length <= 256 && !['', '.', '..'].includes(name)
  if (isSegment && !/[\ud800-\udfff]/u.test(name)) return encodeURIComponent(name)
  throw new ClientError(
    `${JSON.stringify(name)?.slice(0, 60)} cannot be ${subject}. Use a name of 1 to 256 characters, but not "." or "..".`,
    { code: 'session.invalid_id' },
  )
}

/** Throws for unknown options. Kept small, because pages load it. @throws ClientError `options.invalid` */
export function checkOptionNames(options: object, allowed: Readonly<Record<string, true>>, subject: string): void {
  for (const name of Object.keys(options))
    if (allowed[name] !== true)
      throw new ClientError(
        `${subject} does not know the option ${name}. Available: ${Object.keys(allowed).join(', ')}.`,
        {
          code: 'options.invalid',
        },
      )
}

export interface HttpCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Repeating the request has no further effect, so it is retried if the connection fails. */
  readonly idempotent?: boolean
}

/**
 * Sends a request and returns the JSON of the response. Retries a request that is idempotent.
 *
 * @throws ClientError for an error response; the error of `fetch` if there is no response
 */
export async function json<T>(
  transport: Transport,
  path: string,
  call: HttpCall = {},
  parse: (text: string) => unknown = JSON.parse,
): Promise<T> {
  const { method = 'GET', idempotent = method === 'GET', signal } = call
  const sendAndRead = async () => parse(await (await sendOnce(transport, path, call)).text()) as T
  return idempotent ? retry(transport, signal, sendAndRead) : sendAndRead()
}

/**
 * Repeats a call after a lost connection, until all attempts in a row have failed.
 *
 * @param call its argument starts the count again
 */
export async function retry<T>(
  { attempts, wait }: Transport,
  signal: AbortSignal | undefined,
  call: (startAgain: () => void) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(() => (attempt = 0))
    } catch (error) {
      if (signal?.aborted || attempt >= attempts || !isLost(error)) throw error
      await wait(attempt || 1, (error as Partial<ClientError>).retryAfter ?? 0)
    }
  }
}

/** Longest `Retry-After` in milliseconds after which the client itself repeats a request. */
const maxRetryAfter = 30_000

/**
 * Whether another attempt may succeed: there was no response, or it says that the server is restarting or cannot be reached. Other
 * errors with such a status are those of a run, and a repeated request would return that run.
 */
function isLost(error: unknown): boolean {
  if (!(error instanceof ClientError) || error.status === undefined) return true
  const { status, code, retryAfter = 0 } = error
  return [502, 503, 504].includes(status) && /^(server|store)\./.test(code) && retryAfter <= maxRetryAfter
}

/** @throws ClientError for an error response; the error of `fetch` if there is no response */
export async function sendOnce(
  transport: Transport,
  path: string,
  { method = 'GET', body, headers, signal }: HttpCall,
): Promise<Response> {
  const allHeaders = new Headers(await transport.headers())
  for (const [name, value] of Object.entries(headers ?? {})) allHeaders.set(name, value)
  if (body !== undefined) allHeaders.set('content-type', 'application/json')
  const response = await transport.fetch(`${transport.url}${path}`, {
    method,
    headers: allHeaders,
    body: JSON.stringify(body) ?? null,
    signal: signal ?? null,
  })
  if (response.ok) return response
  // A proxy answers with a page, which is not JSON.
  throw errorFrom(response, (await response.json().catch(() => null)) as Problem)
}

function errorFrom({ status, headers }: Response, problem: Problem): ClientError {
  const { code, message, requestId } = problem ?? {}
  const retryAfter = Number(headers.get('retry-after')) * 1000 || undefined
  // The JSON of a proxy may have a code of another form, such as 502 or "BAD_GATEWAY".
  const isOwn = typeof code === 'string' && /\.\w/.test(code)
  return new ClientError(typeof message === 'string' ? message : `The server answered with ${status}.`, {
    code: isOwn ? code : 'server.failed',
    status,
    requestId,
    retryAfter,
  })
}

/** The JSON of an error response. That of a proxy may be anything. */
type Problem = { code?: unknown; message?: unknown; requestId?: string } | null
