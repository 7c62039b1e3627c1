import { isBlockError } from '@allium/core'

/** Whether this error ends the run, so that no attempt may follow, whatever a layer's options are. */
export function isNonRetryable(error: unknown): boolean {
  return isBlockError(error) || (error as { name?: unknown } | null | undefined)?.name === 'AbortError'
}
