import type { SessionKey, StoredSession } from '@allium/core'
import type { Host } from '../host.ts'
import { requestError } from '../http/problem.ts'

/**
 * A session of who asks. Under their key nobody else's is found.
 *
 * @throws AlliumError `session.not_found`
 */
export async function requireSession({ sessions, events }: Host, key: SessionKey): Promise<StoredSession> {
  const stored = await sessions.load(key)
  if (stored !== undefined) return stored
  // Of a durable run nothing stands in its session before it has ended.
  if ((await events.latest(key))?.ended === false)
    return { version: 0, owner: key.owner, history: [], rest: { state: {} } }
  throw requestError('session.not_found', `There is no session ${JSON.stringify(key.sessionId)}.`)
}
