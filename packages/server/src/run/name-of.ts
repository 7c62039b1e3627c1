import type { SessionKey } from '@allium/core'

/** A session as one text. */
export function nameOf({ tenant, owner, agent, sessionId }: SessionKey): string {
  return JSON.stringify([tenant, owner, agent, sessionId])
}
