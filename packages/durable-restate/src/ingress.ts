import { AlliumError, type ErrorCode, errorCodes } from '@allium/core'

/** The connection to Restate's ingress. */
export interface Ingress {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly fetch: typeof globalThis.fetch
}

export interface IngressRequest {
  readonly path: readonly string[]
  /** Sent as JSON. @default none, with a GET */
  readonly body?: unknown
  readonly query?: string | undefined
  readonly idempotencyKey?: string | undefined
}

/** A response. Without a value, status 404 means unknown and 470 means not ended. */
export interface IngressResponse {
  readonly status: number
  readonly value?: unknown
}

/** @throws AlliumError `http.status`; the error of a handler */
export async function callIngress({ url, headers, fetch }: Ingress, request: IngressRequest): Promise<IngressResponse> {
  const { path, body, query = '', idempotencyKey } = request
  const response = await fetch(`${url}/${path.map(encodeURIComponent).join('/')}${query}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const [{ status, ok }, text] = [response, await response.text()]
  if (ok) return { status, value: text === '' ? undefined : JSON.parse(text) }
  const terminalError = terminalErrorIn(text)
  if (terminalError !== undefined) throw terminalError
  if (status === 404 || status === 470) return { status }
  const excerpt = text.slice(0, 500)
  throw new AlliumError('http.status', `Restate answered ${status} to "${path.join('/')}": ${excerpt}. Check its log.`)
}

function terminalErrorIn(text: string): AlliumError | undefined {
  try {
    const { code, message } = JSON.parse(JSON.parse(text).message)
    if ((errorCodes as readonly string[]).includes(code)) return new AlliumError(code as ErrorCode, message)
  } catch {}
  return undefined
}
