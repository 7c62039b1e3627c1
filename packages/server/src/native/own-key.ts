import type { SessionKey } from '@allium/core'
import { type Caller, keyOf } from '../request/caller.ts'
import { sessionNotFound } from '../request/not-found.ts'

/**
 * Returns the key of a session to run, stop or delete. Only the caller's own: `canRead` does not allow these.
 *
 * @throws AlliumError `session.not_found` if `owner` is another owner
 */
export function ownKey(caller: Caller, sessionId: string, owner: string | undefined): SessionKey {
  if (owner === undefined || owner === caller.owner) return keyOf(caller, sessionId)
  throw sessionNotFound(sessionId)
}
