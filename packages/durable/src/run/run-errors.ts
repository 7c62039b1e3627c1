import { AlliumError, type ErrorCode, isAlliumError } from '@allium/core'

export function exposedError(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): AlliumError {
  return new AlliumError(code, message, { expose: true, details })
}

/** Whether a run was stopped. */
export function isAbort(error: unknown): boolean {
  return (error as { name?: unknown } | undefined)?.name === 'AbortError' && !isAlliumError(error)
}

/** Whether a row can never be read: its key is gone, or it is damaged. */
export function isUnreadable(error: unknown): error is AlliumError {
  return isAlliumError(error, 'store.sealed') || isAlliumError(error, 'store.corrupt')
}

/** Whether repeating the run cannot help. */
export function isFinal(error: unknown): boolean {
  return isUnreadable(error) || isAlliumError(error, 'store.full')
}
