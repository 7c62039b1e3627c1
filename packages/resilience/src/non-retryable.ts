import { isBlockError } from '@allium/core'

/** Whether the run is over with this error: no other attempt may follow, whatever a layer's options say. */
export function isNonRetryable(error: unknown): boolean {
  return isBlockError(error) || (error as { name?: unknown } | null | undefined)?.name === 'AbortError'
}
