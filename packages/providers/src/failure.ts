import { AbortError, AlliumError, isAlliumError } from '@allium/core'
import { isRecord } from '@allium/core/internal'

/** The HTTP statuses of errors inside a stream, by their type or code as `nameKey` writes it. */
const statuses: Record<string, number> = {
  invalidrequest: 400,
  invalidargument: 400,
  validation: 400,
  authentication: 401,
  unauthenticated: 401,
  permission: 403,
  permissiondenied: 403,
  notfound: 404,
  requesttoolarge: 413,
  ratelimit: 429,
  ratelimitexceeded: 429,
  insufficientquota: 429,
  resourceexhausted: 429,
  throttling: 429,
  api: 500,
  server: 500,
  internal: 500,
  internalserver: 500,
  slowdown: 503,
  serverisoverloaded: 503,
  unavailable: 503,
  serviceunavailable: 503,
  modelstream: 503,
  timeout: 504,
  deadlineexceeded: 504,
  overloaded: 529,
}

/** `RATE_LIMIT`, `rate_limit_error` and `RateLimitException` are one name. */
function nameKey(name: unknown): string {
  return String(name)
    .toLowerCase()
    .replace(/[^a-z]|(error|exception)+$/g, '')
}

/**
 * Returns the error to throw for a failed call. After an abort that is the abort's own reason if it is an error, or else an AbortError.
 * A truncated stream becomes `model.truncated`. Any other error of the provider stays the same object, with its `statusCode` also as
 * `status`, where layers read it.
 */
export function failure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return abortReason(signal)
  const truncatedError = asTruncated(error)
  if (truncatedError !== error) return truncatedError
  if (isRecord(error) && error.status === undefined && Object.isExtensible(error)) {
    const status = httpStatus(error)
    if (status !== undefined) error.status = status
  }
  return error
}

/**
 * Returns the error of an `error` part. Some providers send a plain object, which becomes the cause of a real error. A package that
 * has no schema for the provider's error sends a type validation error, with the event as its `value`.
 *
 * @param type the error's type if the provider sends it separately
 */
export function partError(error: unknown, type?: string): unknown {
  const isError = error instanceof Error
  const found = errorIn(isError ? (error as { value?: unknown }).value : error)
  if (isError && found === undefined) return error
  const message = found?.message ?? (typeof error === 'string' ? error : JSON.stringify(found ?? error))
  const failed = new AlliumError('model.failed', `The provider ended the stream with an error: ${String(message)}`, {
    cause: error,
  })
  const status = httpStatus({ type, ...found })
  const { isRetryable } = isRecord(error) ? error : {}
  return Object.assign(failed, status !== undefined && { status }, typeof isRetryable === 'boolean' && { isRetryable })
}

/** Returns the error that an event tells of: OpenAI and others nest it, others send a text, and some send it as the event. */
export function errorIn(event: unknown): Record<string, unknown> | undefined {
  if (!isRecord(event)) return undefined
  const { error, message } = event
  if (typeof message === 'string') return event
  if (typeof error === 'string') return { ...event, message: error }
  return isRecord(error) ? (errorIn(error) ?? error) : undefined
}

/**
 * Converts the plain errors with which packages report a truncated stream, recognized only by their message.
 * Any other error stays unchanged.
 */
export function asTruncated(error: unknown): unknown {
  if (!(error instanceof Error) || isAlliumError(error)) return error
  const { status, statusCode, code, isRetryable, cause } = error as Error & Record<string, unknown>
  const hasDetails = [status, statusCode, code, isRetryable, cause].some((value) => value !== undefined)
  return !hasDetails && truncationMessage.test(error.message.slice(0, 1_000)) ? truncatedStream(error) : error
}

/** `Response stream ended without a finish reason.`, `Incomplete … event-stream frame: …`, Ollama's `Did not receive done …` */
const truncationMessage =
  /\bstream (has )?(ended|closed)\b|\bincomplete\b.*\b(stream|frame|response)\b|\bunexpected end\b|\bpremature|\bnot receive done\b/i

/** Returns the error for a truncated answer. */
export function truncatedStream(cause?: unknown): AlliumError {
  return new AlliumError(
    'model.truncated',
    'The stream of the provider ended before its finish, so the answer is incomplete. Retry the call.',
    cause === undefined ? {} : { cause },
  )
}

/** The error of a closed socket has the status 200 of the response, which is not the status of the failure. */
function httpStatus({ statusCode, code, type, status }: Record<string, unknown>): number | undefined {
  const found = [statusCode, code, status].map(Number).find(isErrorStatus)
  if (found !== undefined || typeof statusCode === 'number') return found
  const name = [code, status, type].map(nameKey).find((key) => Object.hasOwn(statuses, key))
  return name === undefined ? undefined : statuses[name]
}

function isErrorStatus(status: number): boolean {
  return status >= 400 && status < 600
}

/** Any other reason reaches the caller as an error of the provider's package. */
function abortReason({ reason }: AbortSignal): unknown {
  const { name } = isRecord(reason) ? reason : {}
  return name === 'AbortError' || name === 'TimeoutError' ? reason : new AbortError(reason)
}
