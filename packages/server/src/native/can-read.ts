import type { SessionKey } from '@allium/core'
import type { Host } from '../host.ts'
import { requestError } from '../http/problem.ts'
import { type Caller, keyOf } from '../request/caller.ts'

/**
 * The key of a session that is read: one's own, or with `owner` another's of the same tenant, whom `mayRead` opens.
 *
 * @throws AlliumError `session.not_found`
 */
export async function readableKey(
  host: Host,
  caller: Caller,
  sessionId: string,
  owner: string | undefined,
): Promise<SessionKey> {
  const key = { ...keyOf(caller, sessionId), ...(owner !== undefined && { owner }) }
  if (await mayRead(host, caller, key)) return key
  throw requestError('session.not_found', `There is no session ${JSON.stringify(sessionId)}.`)
}

/**
 * The key of a session that the caller runs, stops or deletes: their own. `mayRead` opens none of that.
 *
 * @throws AlliumError `session.not_found` where `owner` is somebody else
 */
export function ownKey(caller: Caller, sessionId: string, owner: string | undefined): SessionKey {
  if (owner === undefined || owner === caller.owner) return keyOf(caller, sessionId)
  throw requestError('session.not_found', `There is no session ${JSON.stringify(sessionId)}.`)
}

/** Anything but true, and a throw, is no. */
export async function mayRead({ options }: Host, caller: Caller, { owner, sessionId }: SessionKey): Promise<boolean> {
  const agent = caller.agent.name
  if (owner === caller.owner) return true
  try {
    return (await options.mayRead?.(caller.principal, { owner, agent, sessionId })) === true
  } catch {
    return false
  }
}
