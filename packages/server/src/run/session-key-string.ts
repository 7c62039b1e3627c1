import type { SessionKey } from '@allium/core'

/** A session as one text. */
export function sessionKeyString({ tenant, owner, agent, sessionId }: SessionKey): string {
  return JSON.stringify([tenant, owner, agent, sessionId])
}
