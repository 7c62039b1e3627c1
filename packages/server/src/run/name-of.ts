import type { SessionKey } from '@allium/core'

/** A session as one text. */
export function nameOf({ tenant, owner, sessionId }: SessionKey): string {
  return JSON.stringify([tenant, owner, sessionId])
}
