import { AbortError, AlliumError } from '@allium/core'

/** The HTTP statuses of the error types of Anthropic and OpenAI, which come without one inside a stream. */
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
}

/**
 * What a failed call throws: after an abort the abort's own reason if it is an error, else an AbortError; otherwise
 * the provider's error, the same object, with its `statusCode` as `status` too, where layers look for it.
 */
export function failure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return abortReason(signal)
  if (isObject(error) && error.status === undefined && Object.isExtensible(error)) {
    const status = httpStatus(error)
    if (status !== undefined) error.status = status
  }
  return error
}

/** The error of an `error` part. Some providers send a plain object, which becomes the cause of a real error. */
export function partError(error: unknown): unknown {
  if (error instanceof Error) return error
  const message = isObject(error) && typeof error.message === 'string' ? error.message : String(error)
  const failed = new AlliumError('model.failed', `The provider broke off with an error: ${message}`, { cause: error })
  const status = isObject(error) ? httpStatus(error) : undefined
  return status === undefined ? failed : Object.assign(failed, { status })
}

/** A cut socket comes with the 200 that the answer began with: that is no status of the failure. */
function httpStatus({ statusCode, code, type }: Record<string, unknown>): number | undefined {
  const told = [statusCode, code].find((value) => typeof value === 'number')
  if (told !== undefined) return isFailing(told) ? told : undefined
  const name = [type, code].find((value) => typeof value === 'string' && Object.hasOwn(statuses, value))
  return name === undefined ? undefined : statuses[name as string]
}

function isFailing(status: unknown): status is number {
  return typeof status === 'number' && status >= 400 && status < 600
}

/** Anything else as a reason reaches the caller as an error of the provider's package. */
function abortReason({ reason }: AbortSignal): unknown {
  const { name } = isObject(reason) ? reason : {}
  return name === 'AbortError' || name === 'TimeoutError' ? reason : new AbortError(reason)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
