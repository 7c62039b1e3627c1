import { AlliumError, type ErrorCode, isAlliumError, isBlockError } from '@allium/core'

export function exposedError(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): AlliumError {
  return new AlliumError(code, message, { expose: true, details })
}

/**
 * Returns the parts of an error that readers may see: the code and message of Allium's own errors. Other errors get a generic message, which
 * says whether the model failed.
 */
export function publicError(error: unknown): { code: ErrorCode; message: string } {
  if (isAlliumError(error)) return { code: error.code, message: error.message }
  // From a session layer. A block inside a turn ends the turn and throws nothing.
  if (isBlockError(error)) return { code: (error.code ?? 'run.blocked') as ErrorCode, message: error.reason }
  const { name, statusCode, status = statusCode } = (error ?? {}) as Record<'name' | 'status' | 'statusCode', unknown>
  if (name === 'TimeoutError') return { code: 'model.timeout', message: 'The model took too long.' }
  if (typeof status === 'number') return { code: 'model.failed', message: 'The model could not answer.' }
  return { code: 'run.failed', message: 'The run failed. The log of its process has the error.' }
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
