import { isBlockError, messageOf } from '@allium/core'

/** How an error ended what it left. */
export function decisionOf(error: unknown): 'blocked' | 'aborted' | 'failed' {
  if (isBlockError(error)) return 'blocked'
  return (error as { name?: unknown } | null | undefined)?.name === 'AbortError' ? 'aborted' : 'failed'
}

/** The reason that a layer gave, else the message. */
export function detailOf(error: unknown): string {
  const reason = decisionOf(error) === 'failed' ? undefined : (error as { reason?: unknown }).reason
  return typeof reason === 'string' ? reason : messageOf(error)
}
