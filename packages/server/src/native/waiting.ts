import type { AlliumError, PendingCall, SessionKey, StoredSession } from '@allium/core'
import type { Host } from '../host.ts'
import { fail } from '../http/problem.ts'
import { wasUsed } from '../run/used-tokens.ts'
import { keyOf, type Visit } from '../visit.ts'

/**
 * The calls that wait in a session of who asks: with token and true values those that they may approve. The others, which
 * `mayDecide` leaves to somebody else, as the model made them: their owner may still deny.
 */
export function waitingIn(
  asks: Visit,
  sessionId: string,
  { rest }: Pick<StoredSession, 'rest'>,
): Promise<readonly PendingCall[]> {
  if (rest.suspension === undefined) return Promise.resolve([])
  return opened(asks, sessionId, asks.principal, async (session) => {
    const allowed = new Map((await session.pendingFor(asks.principal as never)).map((call) => [call.callId, call]))
    return session.pending.map(({ token: _, ...call }) => allowed.get(call.callId) ?? call)
  })
}

/**
 * The calls that wait for a decision of who asks, in a session of their own or of another owner whom `resolvePrincipal` knows. Of
 * agents that share a history only those of the agent that is asked.
 */
export async function decidableIn(host: Host, asks: Visit, given: SessionKey): Promise<readonly PendingCall[]> {
  // One that is listed under another name of the agent is moved as it is read.
  const key = { ...given, agent: asks.sessionAgent }
  const stored = await host.sessions.load(key)
  if (stored?.rest.suspension === undefined) return []
  const calls =
    key.owner === asks.owner ? await waitingIn(asks, key.sessionId, stored) : await anothersCalls(host, asks, key)
  return calls.filter(({ client }) => client !== true)
}

async function anothersCalls(host: Host, asks: Visit, { owner, sessionId }: SessionKey) {
  const principal = await principalOf(host, asks, owner)
  if (principal === undefined) return []
  return opened(asks, sessionId, principal, (session) => session.pendingFor(asks.principal as never))
}

/** The owner as they are now; undefined where nobody is to decide for them, or they are no more. */
export async function principalOf({ options, logger }: Host, asks: Visit, owner: string): Promise<unknown> {
  const { tenant, agent } = asks
  if (owner === asks.owner) return asks.principal
  try {
    const principal = await options.resolvePrincipal?.({ tenant, owner })
    if (principal === undefined || principal === null) return undefined
    const { key } = agent.session({ principal: principal as never })
    if (key.tenant === tenant && key.owner === owner) return principal
    logger.error('The function `resolvePrincipal` gave somebody else: nobody decides for that owner.')
  } catch {
    logger.warn('The function `resolvePrincipal` threw: nobody decides for that owner.')
  }
  return undefined
}

/** A reader of a run sees its calls as they may decide them. The log has no tokens of an agent with `mayDecide`. */
export async function openedPending(
  host: Host,
  asks: Visit,
  sessionId: string | undefined,
  pending: readonly PendingCall[],
): Promise<readonly PendingCall[]> {
  if (sessionId === undefined || pending.every(({ token }) => token !== undefined)) return pending
  const stored = await host.sessions.load(keyOf(asks, sessionId))
  const waiting = stored === undefined ? [] : await waitingIn(asks, sessionId, stored)
  return pending.map((call) => waiting.find(({ callId }) => callId === call.callId) ?? call)
}

/** The call that a token stands for, in a session in which who asks may decide it. @throws AlliumError `approval.unknown`, `approval.used` */
export async function calledBy(
  host: Host,
  asks: Visit,
  token: string,
): Promise<{ key: SessionKey; call: PendingCall }> {
  const [outer = ''] = token.split('.', 1)
  const found = await host.sessions.findWaiting({ tenant: asks.tenant, agents: [asks.sessionAgent], token: outer })
  const calls = found === undefined ? [] : await decidableIn(host, asks, found.key)
  const call = calls.find((one) => one.token === token)
  if (found === undefined || call === undefined) throw await notWaiting(host, asks, token)
  return { key: { ...found.key, agent: asks.sessionAgent }, call }
}

/** Why no call waits under a token. */
export async function notWaiting(
  { events }: Host,
  { tenant, sessionAgent: agent }: Visit,
  token: string,
): Promise<AlliumError> {
  if (await wasUsed(events, { tenant, agent }, token))
    return fail('approval.used', 'The call of this token has been decided already. A decision is used once.')
  return fail('approval.unknown', 'No call waits under this token for a decision of yours.')
}

async function opened<T>(
  { agent }: Visit,
  id: string,
  principal: unknown,
  use: (session: ReturnType<Visit['agent']['session']>) => Promise<T>,
): Promise<T> {
  const session = agent.session({ id, principal: principal as never })
  await session.open()
  try {
    return await use(session)
  } finally {
    await session.close()
  }
}
