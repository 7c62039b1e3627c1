import type { SessionKey } from '@allium/core'
import type { SessionHead } from '@allium/store'
import type { Access, StoreReader } from '../host/host.ts'
import { type Caller, keyOf } from './caller.ts'
import { sessionNotFound } from './not-found.ts'

/**
 * Returns a stored session without its messages. Its key contains the owner, so it never finds a session of another owner.
 *
 * @throws AlliumError `session.not_found`
 */
export async function requireSession({ sessions, events }: StoreReader, key: SessionKey): Promise<SessionHead> {
  const stored = await sessions.head(key)
  if (stored !== undefined) return stored
  // A durable run stores nothing in its session before it has ended.
  if ((await events.latest(key))?.ended === false) return { version: 0, rest: { state: {} } }
  throw sessionNotFound(key.sessionId)
}

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
