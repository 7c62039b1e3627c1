import type { SessionKey, StoredSession } from '@allium/core'
import type { Host } from '../host.ts'
import { fail } from '../http/problem.ts'

/**
 * A session of who asks. Under their key nobody else's is found.
 *
 * @throws AlliumError `session.not_found`
 */
export async function isThere({ sessions }: Host, key: SessionKey): Promise<StoredSession> {
  const stored = await sessions.load(key)
  if (stored !== undefined) return stored
  throw fail('session.not_found', `There is no session ${JSON.stringify(key.sessionId)}.`)
}
