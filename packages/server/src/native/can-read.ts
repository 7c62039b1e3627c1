import type { SessionKey } from '@allium/core'
import type { Access } from '../host/host.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import { sessionNotFound } from '../request/not-found.ts'

/**
 * Returns the key of a session to read: the caller's own, or with `owner` a session of another owner in the tenant if `canRead` allows it.
 *
 * @throws AlliumError `session.not_found`
 */
export async function readableKey(
  access: Access,
  caller: Caller,
  sessionId: string,
  owner: string | undefined,
): Promise<SessionKey> {
  const key = { ...keyOf(caller, sessionId), ...(owner !== undefined && { owner }) }
  if (await canRead(access, caller, key)) return key
  throw sessionNotFound(sessionId)
}

/**
 * Returns the key of a session to run, stop or delete. Only the caller's own: `canRead` does not allow these.
 *
 * @throws AlliumError `session.not_found` if `owner` is another owner
 */
export function ownKey(caller: Caller, sessionId: string, owner: string | undefined): SessionKey {
  if (owner === undefined || owner === caller.owner) return keyOf(caller, sessionId)
  throw sessionNotFound(sessionId)
}

/** A throw, or any result but true, denies it. */
export async function canRead({ options }: Access, caller: Caller, { owner, sessionId }: SessionKey): Promise<boolean> {
  const agent = caller.agent.name
  if (owner === caller.owner) return true
  try {
    return (await options.canRead?.(caller.principal, { owner, agent, sessionId })) === true
  } catch {
    return false
  }
}
