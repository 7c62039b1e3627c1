import type { AlliumError, PendingCall, SessionKey } from '@allium/core'
import type { SessionHead } from '@allium/store'
import type { Access, StoreReader } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import { readHistory } from '../request/read-history.ts'
import { requireSession } from '../request/require-session.ts'
import { isTokenUsed } from '../run/used-tokens.ts'

/**
 * Returns the pending calls in a session of the caller. Calls that they may approve have a token and unredacted values. Calls that
 * `canApprove` reserves for another approver are shown as the model made them; their owner may still deny them.
 */
export async function pendingCallsOf(
  stores: StoreReader,
  caller: Caller,
  key: SessionKey,
  { rest }: Pick<SessionHead, 'rest'>,
): Promise<readonly PendingCall[]> {
  if (rest.suspension === undefined) return []
  const session = await suspendedSession(stores, caller, key, { rest, principal: caller.principal })
  const allowed = new Map((await session.pendingFor(caller.principal as never)).map((call) => [call.callId, call]))
  return session.pending.map(({ token: _, ...call }) => allowed.get(call.callId) ?? call)
}

/** Returns the pending calls in a stored session of the caller. @throws AlliumError `session.not_found` */
export async function requirePendingCalls(
  stores: StoreReader,
  caller: Caller,
  sessionId: string,
): Promise<readonly PendingCall[]> {
  const key = keyOf(caller, sessionId)
  return pendingCallsOf(stores, caller, key, await requireSession(stores, key))
}

/**
 * Returns the calls that the caller may decide, in their own session or in that of another owner whom `resolvePrincipal` knows. If agents
 * share a history, only calls of the requested agent.
 */
export async function decidableCallsOf(
  host: Access & StoreReader,
  caller: Caller,
  listed: SessionKey,
): Promise<readonly PendingCall[]> {
  // A session that is listed under another name of the agent is moved when it is read.
  const key = { ...listed, agent: caller.sessionAgent }
  const head = await host.sessions.head(key)
  if (head?.rest.suspension === undefined) return []
  const calls =
    key.owner === caller.owner
      ? await pendingCallsOf(host, caller, key, head)
      : await otherOwnersCalls(host, caller, key, head)
  return calls.filter(({ client }) => client !== true)
}

async function otherOwnersCalls(host: Access & StoreReader, caller: Caller, key: SessionKey, { rest }: SessionHead) {
  const principal = await ownerPrincipal(host, caller, key.owner)
  if (principal === undefined) return []
  return (await suspendedSession(host, caller, key, { rest, principal })).pendingFor(caller.principal as never)
}

/**
 * Returns the owner's current principal. Undefined if no other principal may decide for the owner, or if the owner does not exist anymore.
 */
export async function ownerPrincipal({ options, logger }: Access, caller: Caller, owner: string): Promise<unknown> {
  const { tenant, agent } = caller
  if (owner === caller.owner) return caller.principal
  try {
    const principal = await options.resolvePrincipal?.({ tenant, owner })
    if (principal === undefined || principal === null) return undefined
    const { key } = agent.session({ principal: principal as never })
    if (key.tenant === tenant && key.owner === owner) return principal
    logger.error('`resolvePrincipal` returned another user, so no call can be approved on behalf of the owner.')
  } catch {
    logger.warn('`resolvePrincipal` threw an error, so no call can be approved on behalf of the owner.')
  }
  return undefined
}

/** Returns the calls as a reader of the run may decide them. The log has no tokens of an agent with `canApprove`. */
export async function pendingForReader(
  stores: StoreReader,
  caller: Caller,
  sessionId: string | undefined,
  pending: readonly PendingCall[],
): Promise<readonly PendingCall[]> {
  if (sessionId === undefined || pending.every(({ token }) => token !== undefined)) return pending
  const key = keyOf(caller, sessionId)
  const head = await stores.sessions.head(key)
  const readerCalls = head === undefined ? [] : await pendingCallsOf(stores, caller, key, head)
  return pending.map((call) => readerCalls.find(({ callId }) => callId === call.callId) ?? call)
}

/** Returns the call of a token, in a session in which the caller may decide it. @throws AlliumError `approval.unknown`, `approval.used` */
export async function findCallByToken(
  host: Access & StoreReader,
  caller: Caller,
  token: string,
): Promise<{ key: SessionKey; call: PendingCall }> {
  const [outer = ''] = token.split('.', 1)
  const found = await host.sessions.findPendingCall({
    tenant: caller.tenant,
    agents: [caller.sessionAgent],
    token: outer,
  })
  const calls = found === undefined ? [] : await decidableCallsOf(host, caller, found.key)
  const call = calls.find((candidate) => candidate.token === token)
  if (found === undefined || call === undefined) throw await pendingCallError(host, caller, token)
  return { key: { ...found.key, agent: caller.sessionAgent }, call }
}

/** Returns why no call is pending under a token. */
export async function pendingCallError(
  { events }: StoreReader,
  { tenant, sessionAgent: agent }: Caller,
  token: string,
): Promise<AlliumError> {
  if (await isTokenUsed(events, { tenant, agent }, token))
    return requestError('approval.used', 'The call with this token has already been decided.')
  return requestError('approval.unknown', 'No pending call has this token, or only another user may decide it.')
}

/** Returns a suspended session with the last messages of its history. They have the pending calls. It is never opened. */
async function suspendedSession(
  { sessions }: StoreReader,
  { agent }: Caller,
  key: SessionKey,
  { rest, principal }: Pick<SessionHead, 'rest'> & { principal: unknown },
): Promise<ReturnType<Caller['agent']['session']>> {
  const { entries } = await readHistory(sessions, key, { limit: 1 })
  const session = agent.session({ id: key.sessionId, principal: principal as never })
  session.restore({ ...rest, history: entries.map(({ message }) => message) })
  return session
}
