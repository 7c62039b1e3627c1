import { isBlockError, messageOf } from '@allium/core'
import { ignoreErrors } from './ignore-errors.ts'

/** Returns how a call ended that threw this error. */
export function decisionOfError(error: unknown): 'blocked' | 'aborted' | 'failed' {
  // A proxy may throw when its brand is read.
  if (ignoreErrors(() => isBlockError(error)) === true) return 'blocked'
  return errorField(error, 'name') === 'AbortError' ? 'aborted' : 'failed'
}

/** Returns the reason of a layer, or else the message. */
export function errorDetail(error: unknown): string {
  const reason = decisionOfError(error) === 'failed' ? undefined : errorField(error, 'reason')
  return typeof reason === 'string' ? reason : messageOf(error)
}

/** A field of a thrown value; undefined if its getter throws, because an observer must never change how a run ends. */
export function errorField(error: unknown, key: string): unknown {
  return ignoreErrors(() => (error as Record<string, unknown> | null | undefined)?.[key])
}
