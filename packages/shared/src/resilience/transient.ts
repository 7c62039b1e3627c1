import { type ErrorCode, isAlliumError, isBlockError } from '@allium/core'

/** HTTP statuses of transient failures; 529 is Anthropic's overload, 520 to 524 mean that a proxy lost its origin. */
const transientStatuses = new Set([408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529])

/** Error codes of Node's sockets and of undici. A host name that is not found is a wrong setting, not a transient failure. */
const networkCodes = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
])

/** Allium's own transient errors. A call whose connection was lost may have run; the retrying layer must allow for that. */
const transientCodes = new Set<ErrorCode>([
  'mcp.lost',
  'mcp.unreachable',
  'model.timeout',
  'model.truncated',
  'tool.timeout',
])

/**
 * Whether a failed model or tool call may succeed when retried: by the error's own `isRetryable`, a status such as 429 or 503, a
 * network failure, a timeout, or a truncated stream. It checks causes too. A plain error is not transient.
 */
export function isTransient(error: unknown): boolean {
  for (const current of causes(error)) {
    const verdict = classify(current)
    if (verdict !== undefined) return verdict
  }
  return false
}

/** Returns the HTTP status of a failure. */
export function statusOf(error: unknown): number | undefined {
  for (const { status, statusCode } of causes(error)) {
    if (isErrorStatus(status)) return status
    if (isErrorStatus(statusCode)) return statusCode
  }
  return undefined
}

/** Yields the error, its cause, and so on, as far as they are objects. */
export function* causes(error: unknown): Generator<Record<string, unknown>> {
  let current = error
  for (let depth = 0; depth < 8 && typeof current === 'object' && current !== null; depth++) {
    yield current as Record<string, unknown>
    current = (current as { cause?: unknown }).cause
  }
}

function classify(error: Record<string, unknown>): boolean | undefined {
  const { name, code, isRetryable, retryable, status, statusCode } = error
  if (isBlockError(error) || name === 'AbortError') return false
  if (typeof isRetryable === 'boolean') return isRetryable
  if (typeof retryable === 'boolean') return retryable
  if (isErrorStatus(status) || isErrorStatus(statusCode))
    return transientStatuses.has((isErrorStatus(status) ? status : statusCode) as number)
  if (isAlliumError(error) && transientCodes.has(error.code)) return true
  if (name === 'TimeoutError') return true
  return typeof code === 'string' && networkCodes.has(code) ? true : undefined
}

/** The error of a dropped connection may have the status 200 of its response. */
function isErrorStatus(status: unknown): status is number {
  return typeof status === 'number' && status >= 400
}
