import type { SessionKey } from '@allium/core'
import type { SessionHead } from '@allium/store'
import type { StoreReader } from '../host/host.ts'
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
