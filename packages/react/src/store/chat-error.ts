import type { ClientError } from '@allium/server/client'

/**
 * What helps after an error.
 *
 * - `retry`: call `retry()`; what the user typed is kept
 * - `wait`: call `retry()` after `retryAfter` milliseconds
 * - `sign-in`: sign the user in, then call `retry()`
 * - `change`: the server rejects this input or decision; change it
 */
export type ErrorAction = 'retry' | 'wait' | 'sign-in' | 'change'

/** An error of a session, with what to do. */
export interface ChatError {
  /** A code of the table of error codes, or `connection.lost`. */
  readonly code: string
  readonly message: string
  readonly action: ErrorAction
  /** Milliseconds after which a retry makes sense. */
  readonly retryAfter?: number
  /** Identifies the line in the server's log. */
  readonly requestId?: string
  readonly cause: unknown
}

/** Returns the error with what to do about it. */
export function toChatError(cause: unknown): ChatError {
  if (!isClientError(cause))
    return {
      code: 'connection.lost',
      message: 'The connection to the server was lost. Your text is kept.',
      action: 'retry',
      cause,
    }
  const { code, message, requestId, retryAfter } = cause
  const details = { ...(requestId !== undefined && { requestId }), ...(retryAfter !== undefined && { retryAfter }) }
  return { code, message, action: actionFor(cause), ...details, cause }
}

/** Compares names, because a page may load two copies of the client. */
export function isClientError(error: unknown): error is ClientError {
  return error instanceof Error && error.name === 'ClientError'
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return isClientError(error) && codes.includes(error.code)
}

function actionFor({ status, retryAfter }: ClientError): ErrorAction {
  if (status === 401) return 'sign-in'
  if (retryAfter !== undefined || status === 429 || status === 503) return 'wait'
  if (status === undefined || status === 408 || status === 409 || status >= 500) return 'retry'
  return 'change'
}
