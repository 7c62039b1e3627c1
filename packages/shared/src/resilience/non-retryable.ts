import { isBlockError } from '@allium/core'

/** Whether this error ends the run, so that no attempt may follow even if a layer's options allow it. */
export function isNonRetryable(error: unknown): boolean {
  return isBlockError(error) || (error as { name?: unknown } | null | undefined)?.name === 'AbortError'
}
