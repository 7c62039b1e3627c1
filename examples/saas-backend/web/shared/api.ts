/** What the server refused, in words for a person. */
export class Refused extends Error {
  readonly code: string
  readonly status: number

  constructor({ code, message }: { code: string; message: string }, status: number) {
    super(message)
    this.code = code
    this.status = status
  }
}

/** Asks the product for JSON. @throws Refused */
export async function ask<T>(path: string, { method, body }: { method?: string; body?: unknown } = {}): Promise<T> {
  const headers = body === undefined ? undefined : { 'content-type': 'application/json' }
  const init = { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, body: JSON.stringify(body) }
  const response = await fetch(path, init).catch(() => {
    throw new Refused({ code: 'network', message: 'The server does not answer.' }, 0)
  })
  if (response.ok) return response.status === 204 ? (undefined as T) : ((await response.json()) as T)
  const told = await response.json().catch(() => ({ code: 'unknown', message: response.statusText }))
  throw new Refused(told, response.status)
}

export interface Me {
  name: string
  tenant: string
  plan: string
  administers: string[]
  refunds: boolean
}
