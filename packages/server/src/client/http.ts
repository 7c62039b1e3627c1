/** The connection of a client to its server. */
export interface Transport {
  readonly url: string
  readonly headers: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly attempts: number
  /** Waits before another attempt, counted from 1. */
  readonly wait: (attempt: number) => Promise<void>
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

  constructor(message: string, details: { code: string; status?: number; requestId?: string; retryAfter?: number }) {
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
    `${JSON.stringify(name)?.slice(0, 60)} cannot be ${subject}, because it cannot be part of a path. Use a name of 1 to 256 characters, but not "." or "..".`,
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
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Repeating the request has no further effect, so it is retried if the connection fails. */
  readonly idempotent?: boolean
}

/** @throws ClientError for an error response; the error of `fetch` if there is no response */
export async function request(transport: Transport, path: string, call: HttpCall = {}): Promise<Response> {
  const { method = 'GET', idempotent = method === 'GET', signal } = call
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(transport, path, call)
    } catch (error) {
      if (error instanceof ClientError || signal?.aborted || !idempotent || attempt >= transport.attempts) throw error
    }
    await transport.wait(attempt)
  }
}

/** Sends a request and returns the JSON of the response. */
export async function json<T>(transport: Transport, path: string, call: HttpCall = {}): Promise<T> {
  const { method = 'GET' } = call
  for (let attempt = 1; ; attempt++) {
    const response = await request(transport, path, call)
    try {
      return (await response.json()) as T
    } catch (error) {
      if (method !== 'GET' || attempt >= transport.attempts) throw error
    }
    await transport.wait(attempt)
  }
}

async function sendOnce(
  transport: Transport,
  path: string,
  { method = 'GET', body, headers, signal }: HttpCall,
): Promise<Response> {
  const allHeaders = new Headers(await transport.headers())
  for (const [name, value] of Object.entries(headers ?? {})) allHeaders.set(name, value)
  if (body !== undefined) allHeaders.set('content-type', 'application/json')
  const init = { method, headers: allHeaders, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await transport.fetch(`${transport.url}${path}`, {
    ...init,
    ...(signal !== undefined && { signal }),
  })
  if (response.ok) return response
  throw errorFrom(response, await response.text())
}

function errorFrom({ status, headers }: Response, text: string): ClientError {
  const { code = 'server.failed', message = `The server answered with ${status}.`, requestId } = parseProblem(text)
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  const retryAfter = Number.isFinite(seconds) ? { retryAfter: seconds * 1000 } : {}
  return new ClientError(message, { code, status, ...(requestId !== undefined && { requestId }), ...retryAfter })
}

/** Returns an empty object for text that is not JSON, such as the HTML page of a proxy. */
function parseProblem(text: string): { code?: string; message?: string; requestId?: string } {
  try {
    return JSON.parse(text) as object
  } catch {
    return {}
  }
}
