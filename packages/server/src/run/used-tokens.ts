import { isAlliumError, type SessionKey } from '@allium/core'
import { digestOf } from '@allium/core/internal'
import type { EventLog } from '@allium/store'

type TokenScope = Pick<SessionKey, 'tenant' | 'agent'>

/**
 * Marks the token of a decided call as used, for as long as the events of runs are kept. The session store knows a token only while its
 * call is pending. The mark distinguishes a repeated token from an invented one.
 */
export async function markTokenUsed(log: EventLog, scope: TokenScope, token: string): Promise<void> {
  try {
    await log.append({ key: await tokenKeyOf(scope, token), turnId: 'decided' }, 1, [], { end: true })
  } catch (error) {
    // It is marked already.
    if (!isAlliumError(error, 'store.fenced')) throw error
  }
}

export async function isTokenUsed(log: Pick<EventLog, 'latest'>, scope: TokenScope, token: string): Promise<boolean> {
  return (await log.latest(await tokenKeyOf(scope, token))) !== undefined
}

/** Returns the log key of a token. No session has this key, because each session has an owner. */
async function tokenKeyOf({ tenant, agent }: TokenScope, token: string): Promise<SessionKey> {
  return { tenant, owner: '', agent, sessionId: `decided:${await digestOf(token)}` }
}
