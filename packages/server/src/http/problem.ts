import { AlliumError, isAlliumError, isBlockError } from '@allium/core'

/** A rejection or fault as a client receives it. */
export interface Problem {
  status: number
  code: string
  message: string
  /** Milliseconds after which a retry makes sense. */
  retryAfter?: number
  /** The path of the invalid field. */
  field?: string
  /** The methods that the path accepts. */
  allow?: string
}

const statuses: Readonly<Record<string, number>> = {
  'approval.changed': 409,
  'approval.expired': 410,
  'approval.forbidden': 403,
  'approval.forged': 403,
  'approval.invalid': 400,
  'approval.unknown': 404,
  'approval.used': 409,
  'guard.budget': 402,
  'guard.concurrency': 429,
  'guard.failed': 503,
  'guard.rate_limit': 429,
  'layer.timeout': 504,
  'message.invalid': 400,
  'model.failed': 502,
  'model.invalid': 502,
  'model.open': 503,
  'model.protocol': 502,
  'model.timeout': 504,
  'model.truncated': 502,
  'output.invalid': 502,
  'request.host': 421,
  'request.invalid': 400,
  'request.media_type': 415,
  'request.origin': 403,
  'request.principal': 401,
  'request.too_large': 413,
  'route.method_not_allowed': 405,
  'route.not_found': 404,
  'run.blocked': 403,
  'run.interrupted': 409,
  'run.key_reused': 422,
  'run.not_running': 409,
  'run.options': 400,
  'run.version': 409,
  'schema.limits': 400,
  'server.draining': 503,
  'server.full': 503,
  'server.limit': 429,
  'session.busy': 409,
  'session.invalid_id': 400,
  'session.not_found': 404,
  'session.principal': 401,
  'session.unknown_turn': 404,
  'store.conflict': 409,
  'store.fenced': 409,
  'store.full': 503,
  'store.key': 400,
  'store.readonly': 503,
  'store.unavailable': 503,
  'stream.reset': 502,
  'tool.duplicate': 400,
  'turn.timeout': 504,
}

/** The messages of server faults for clients. The original message may name internals. */
const genericMessages: Readonly<Record<number, string>> = {
  500: 'The server failed. Its log has a line with this request id.',
  502: 'The model could not answer. Try again.',
  503: 'The service cannot do this now. Try again in a moment.',
  504: 'The answer took too long. Try again.',
}

/** @param now milliseconds since the epoch */
export function problemOf(error: unknown, now: number): Problem {
  if (isBlockError(error)) return blockedProblem(error) ?? { status: 403, code: 'run.blocked', message: error.reason }
  const { status, code } = statusOf(error)
  if (status >= 500)
    return {
      status,
      code,
      message: genericMessages[status] ?? (genericMessages[500] as string),
      ...retryAfterOf(status),
    }
  const { message, details } = error as AlliumError
  const { field, allow } = details
  return {
    status,
    code,
    message,
    ...retryAfterOf(status),
    ...(code === 'session.busy' && busyUntil(details, now)),
    ...(typeof field === 'string' && { field }),
    ...(typeof allow === 'string' && { allow }),
  }
}

/** Returns the problem of a run that a guard blocked, if the code of the block has a status. */
export function blockedProblem(end: { code?: unknown; reason?: unknown; retryAfter?: unknown }): Problem | undefined {
  const { code, reason, retryAfter } = end
  const status = typeof code === 'string' && code.startsWith('guard.') ? statuses[code] : undefined
  if (status === undefined) return undefined
  const detail = typeof reason === 'string' ? reason : 'The request was refused.'
  const message = genericMessages[status] ?? detail
  return { status, code: code as string, message, ...(typeof retryAfter === 'number' && { retryAfter }) }
}

export function requestError(
  code: AlliumError['code'],
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AlliumError {
  return new AlliumError(code, message, { details })
}

function statusOf(error: unknown): { status: number; code: string } {
  if (isAlliumError(error)) {
    const status = statuses[error.code] ?? 500
    return { status, code: status === 500 ? 'server.failed' : error.code }
  }
  const {
    name,
    status,
    statusCode = status,
  } = (error ?? {}) as { name?: unknown; status?: unknown; statusCode?: unknown }
  if (name === 'TimeoutError') return { status: 504, code: 'model.timeout' }
  return typeof statusCode === 'number' ? { status: 502, code: 'model.failed' } : { status: 500, code: 'server.failed' }
}

function retryAfterOf(status: number): { retryAfter?: number } {
  return status === 503 || status === 429 ? { retryAfter: 1000 } : {}
}

/** A store knows until when the session is held. Within one process this is unknown. */
function busyUntil({ heldUntil }: Readonly<Record<string, unknown>>, now: number): { retryAfter: number } {
  return { retryAfter: typeof heldUntil === 'number' ? Math.max(1000, heldUntil - now) : 1000 }
}
