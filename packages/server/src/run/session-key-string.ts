import type { SessionKey } from '@allium/core'

/** Returns a session key as one string. */
export function sessionKeyString({ tenant, owner, agent, sessionId }: SessionKey): string {
  return JSON.stringify([tenant, owner, agent, sessionId])
}
