/** An error response of the server, or a request that never reached it (status 0, code `network`). */
export class Refused extends Error {
  readonly code: string
  readonly status: number

  constructor({ code, message }: { code: string; message: string }, status: number) {
    super(message)
    this.code = code
    this.status = status
  }
}

/** Requests JSON from the server. @throws Refused */
export async function ask<T>(path: string, { method, body }: { method?: string; body?: unknown } = {}): Promise<T> {
  const headers = body === undefined ? undefined : { 'content-type': 'application/json' }
  const init = { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, body: JSON.stringify(body) }
  const response = await fetch(path, init).catch(() => {
    throw new Refused({ code: 'network', message: '' }, 0)
  })
  if (response.status === 204) return undefined as T
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok && answer !== undefined) return answer as T
  throw new Refused(problemIn(answer), response.status)
}

/** A proxy may answer with an HTML page. */
function problemIn(answer: unknown): { code: string; message: string } {
  const { code, message } = (answer ?? {}) as { code?: unknown; message?: unknown }
  return { code: typeof code === 'string' ? code : 'unknown', message: typeof message === 'string' ? message : '' }
}

export interface Me {
  name: string
  tenantId: string
  tenant: string
  plan: string
  administers: string[]
  reads: string[]
  refunds: boolean
}
