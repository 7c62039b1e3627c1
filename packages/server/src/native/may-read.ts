import type { SessionKey } from '@allium/core'
import type { Host } from '../host.ts'
import { fail } from '../http/problem.ts'
import { keyOf, type Visit } from '../visit.ts'

/**
 * The key of a session that is read: one's own, or with `owner` another's of the same tenant, whom `mayRead` opens.
 *
 * @throws AlliumError `session.not_found`
 */
export async function readableKey(
  host: Host,
  asks: Visit,
  sessionId: string,
  owner: string | undefined,
): Promise<SessionKey> {
  const key = { ...keyOf(asks, sessionId), ...(owner !== undefined && { owner }) }
  if (await mayRead(host, asks, key)) return key
  throw fail('session.not_found', `There is no session ${JSON.stringify(sessionId)}.`)
}

/**
 * The key of a session that the caller runs, stops or deletes: their own. `mayRead` opens none of that.
 *
 * @throws AlliumError `session.not_found` where `owner` is somebody else
 */
export function ownKey(asks: Visit, sessionId: string, owner: string | undefined): SessionKey {
  if (owner === undefined || owner === asks.owner) return keyOf(asks, sessionId)
  throw fail('session.not_found', `There is no session ${JSON.stringify(sessionId)}.`)
}

/** Anything but true, and a throw, is no. */
export async function mayRead({ options }: Host, asks: Visit, { owner, sessionId }: SessionKey): Promise<boolean> {
  const agent = asks.agent.name
  if (owner === asks.owner) return true
  try {
    return (await options.mayRead?.(asks.principal, { owner, agent, sessionId })) === true
  } catch {
    return false
  }
}
