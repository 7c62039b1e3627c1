import { digestOf, type EventLog, isAlliumError, type SessionKey } from '@allium/core'

type TokenPlace = Pick<SessionKey, 'tenant' | 'agent'>

/**
 * The tokens of calls that were decided, for as long as events of runs are kept: the store of sessions knows a token only while its
 * call waits, and who sends one again is to be told apart from who has made one up.
 */
export async function noteUsed(log: EventLog, of: TokenPlace, token: string): Promise<void> {
  try {
    await log.append({ key: await placeOf(of, token), turnId: 'decided' }, 1, [], { end: true })
  } catch (error) {
    // It is there already.
    if (!isAlliumError(error, 'store.fenced')) throw error
  }
}

export async function wasUsed(log: EventLog, of: TokenPlace, token: string): Promise<boolean> {
  return (await log.latest(await placeOf(of, token))) !== undefined
}

/** No session is there: each has an owner. */
async function placeOf({ tenant, agent }: TokenPlace, token: string): Promise<SessionKey> {
  return { tenant, owner: '', agent, sessionId: `decided:${await digestOf(token)}` }
}
