import type { Decision, PendingCall } from '@allium/core'
import { sealOf } from '@allium/core/internal'
import type { Seals } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { type Caller, timingSafeEqual } from '../request/caller.ts'

/** A call that was sent to the client, as the client returns it. `args` is undefined unless the arguments are a JSON object. */
export interface ClientCall {
  readonly id: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>> | undefined
}

interface CallContent {
  readonly name: string
  readonly args: unknown
}

/** 132 bits, so that an id stays below the 40 characters that providers accept. */
const macLength = 22

/** Returns an id that proves to this server that it sent the call, with these arguments, to this caller. */
export async function sealedCallId(secret: string, caller: Caller, call: CallContent): Promise<string> {
  const nonce = crypto.randomUUID().replaceAll('-', '').slice(0, 12)
  return `call_${nonce}${(await sealOf(sealPayload(caller, nonce, call), secret)).slice(0, macLength)}`
}

function sealPayload({ tenant, owner, agent }: Caller, nonce: string, call: CallContent): unknown {
  return [tenant, owner, agent.name, nonce, call.name, call.args]
}

/**
 * Returns the calls of a client without a stored session, as they were sent to it.
 *
 * @throws AlliumError `approval.forged` for a call that was not sent to this client
 */
export async function verifyClientCalls(
  seals: Seals,
  caller: Caller,
  calls: readonly ClientCall[],
): Promise<Map<string, { name: string; args: Record<string, unknown> }>> {
  const verified = new Map<string, { name: string; args: Record<string, unknown> }>()
  for (const { id, name, args } of calls) {
    if (args === undefined || !(await hasValidSeal(seals, caller, id, { name, args }))) throw forgedCallError(id)
    verified.set(id, { name, args })
  }
  return verified
}

async function hasValidSeal(
  { options: { secret } }: Seals,
  caller: Caller,
  id: string,
  call: CallContent,
): Promise<boolean> {
  const [, nonce, mac] = /^call_([0-9a-f]{12})([\w-]{22})$/.exec(id) ?? []
  if (secret === undefined || nonce === undefined || mac === undefined) return false
  const seal = await sealOf(sealPayload(caller, nonce, call), secret)
  return timingSafeEqual(mac, seal.slice(0, macLength))
}

export function forgedCallError(id: unknown) {
  const call = typeof id === 'string' ? JSON.stringify(id.slice(0, 60)) : 'without an id'
  return requestError(
    'approval.forged',
    `The call ${call} was not passed to this client with these arguments. Send it back unchanged.`,
  )
}

/** Returns the results of calls as decisions, for a stored session. A later step checks that the calls are pending and are the client's. */
export async function decisionsFromResults(
  seals: Seals,
  caller: Caller,
  pending: readonly PendingCall[],
  results: readonly { id: unknown; text: string }[],
): Promise<Record<string, Decision>> {
  const unmatched = pending.filter(({ client }) => client === true)
  const decisions: Record<string, Decision> = {}
  for (const { id, text } of results) {
    const givenId = String(id)
    const matches = await Promise.all(
      unmatched.map(
        async (candidate) => candidate.callId === givenId || hasValidSeal(seals, caller, givenId, candidate),
      ),
    )
    const [call] = unmatched.splice(matches.indexOf(true) >>> 0, 1)
    decisions[call?.callId ?? givenId] = { result: text, ...(call?.token !== undefined && { token: call.token }) }
  }
  return decisions
}
