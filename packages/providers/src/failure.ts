import { AbortError, AlliumError, isAlliumError } from '@allium/core'
import { isRecord } from '@allium/core/internal'

/** The HTTP statuses of the error types of Anthropic, OpenAI and others, which have no status inside a stream. */
const statuses: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
  server_error: 500,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  slow_down: 503,
  server_is_overloaded: 503,
  // Google's
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
  // Bedrock's
  validationException: 400,
  throttlingException: 429,
  internalServerException: 500,
  modelStreamErrorException: 503,
  serviceUnavailableException: 503,
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
 * Returns the error of an `error` part. Some providers send a plain object, which becomes the cause of a real error; OpenAI nests one
 * in another.
 *
 * @param type the error's type if the provider sends it separately
 */
export function partError(error: unknown, type?: string): unknown {
  if (error instanceof Error) return error
  const innermostError = innermost(error)
  const message = isRecord(innermostError) ? (innermostError.message ?? JSON.stringify(innermostError)) : innermostError
  const failed = new AlliumError('model.failed', `The provider ended the stream with an error: ${String(message)}`, {
    cause: error,
  })
  const status = isRecord(innermostError) ? httpStatus({ type, ...innermostError }) : undefined
  const { isRetryable } = isRecord(error) ? error : {}
  return Object.assign(failed, status !== undefined && { status }, typeof isRetryable === 'boolean' && { isRetryable })
}

function innermost(error: unknown): unknown {
  return isRecord(error) && typeof error.message !== 'string' && isRecord(error.error) ? innermost(error.error) : error
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

/** `Response stream ended without a finish reason.`, `Incomplete … event-stream frame: …` */
const truncationMessage =
  /\bstream (has )?(ended|closed)\b|\bincomplete\b.*\b(stream|frame|response)\b|\bunexpected end\b|\bpremature/i

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
  const found = [statusCode, code, status].find((value) => typeof value === 'number')
  if (found !== undefined) return isErrorStatus(found) ? found : undefined
  const name = [code, status, type].find((value) => typeof value === 'string' && Object.hasOwn(statuses, value))
  return name === undefined ? undefined : statuses[name as string]
}

function isErrorStatus(status: unknown): status is number {
  return typeof status === 'number' && status >= 400 && status < 600
}

/** Any other reason reaches the caller as an error of the provider's package. */
function abortReason({ reason }: AbortSignal): unknown {
  const { name } = isRecord(reason) ? reason : {}
  return name === 'AbortError' || name === 'TimeoutError' ? reason : new AbortError(reason)
}
