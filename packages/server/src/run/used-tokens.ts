import { digestOf, type EventLog, isAlliumError, type SessionKey } from '@allium/core'

type TokenScope = Pick<SessionKey, 'tenant' | 'agent'>

/**
 * The tokens of calls that were decided, for as long as events of runs are kept: the store of sessions knows a token only while its
 * call waits, and who sends one again is to be told apart from who has made one up.
 */
export async function markTokenUsed(log: EventLog, scope: TokenScope, token: string): Promise<void> {
  try {
    await log.append({ key: await tokenKeyOf(scope, token), turnId: 'decided' }, 1, [], { end: true })
  } catch (error) {
    // It is there already.
    if (!isAlliumError(error, 'store.fenced')) throw error
  }
}

export async function isTokenUsed(log: EventLog, scope: TokenScope, token: string): Promise<boolean> {
  return (await log.latest(await tokenKeyOf(scope, token))) !== undefined
}

/** No session is there: each has an owner. */
async function tokenKeyOf({ tenant, agent }: TokenScope, token: string): Promise<SessionKey> {
  return { tenant, owner: '', agent, sessionId: `decided:${await digestOf(token)}` }
}
