import type { Decision, Message, PendingCall, ToolDef } from '@allium/core'
import { sealOf } from '@allium/core/internal'
import type { Host } from '../host.ts'
import { requestError } from '../http/problem.ts'
import type { Caller } from '../request/caller.ts'
import type { ClientCall } from './messages.ts'

/** A call of a client tool, in the format of Chat Completions: https://platform.openai.com/docs/api-reference/chat/object */
export interface WireCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/**
 * Returns the client tools that the model may call. In a session that is not stored, only the ids of calls prove which calls were sent
 * to the client. These ids are sealed, which needs the option `secret`.
 *
 * @throws AlliumError `request.invalid`
 */
export function callableTools(
  { tools, tool_choice: choice }: { tools?: readonly ToolDef[] | undefined; tool_choice?: 'auto' | 'none' | undefined },
  { options: { secret } }: Host,
  isStored: boolean,
): readonly ToolDef[] | undefined {
  if (tools === undefined || choice === 'none') return undefined
  if (isStored || secret !== undefined) return tools
  throw requestError(
    'request.invalid',
    'The field `tools` is not taken here: calls of tools of a client need a session, or the option `secret` of server().',
    { field: 'tools' },
  )
}

/** Returns the calls that the client must run. Their ids are sealed if the client returns the calls without a stored session. */
export async function clientToolCalls(
  { options: { secret = '' } }: Host,
  caller: Caller,
  pending: readonly PendingCall[],
  isSealed: boolean,
): Promise<WireCall[]> {
  const clientCalls = pending.filter(({ client }) => client === true)
  return Promise.all(
    clientCalls.map(async ({ callId, name, args }) => {
      const nonce = crypto.randomUUID().replaceAll('-', '').slice(0, 12)
      const id = isSealed
        ? `call_${nonce}${(await sealOf(sealPayload(caller, nonce, { name, args }), secret)).slice(0, macLength)}`
        : callId
      return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
    }),
  )
}

/** 132 bits, so that an id stays below the 40 characters that providers accept. */
const macLength = 22

function sealPayload({ tenant, owner, agent }: Caller, nonce: string, call: { name: string; args: unknown }): unknown {
  return [tenant, owner, agent.name, nonce, call.name, call.args]
}

/**
 * Returns the calls of a client without a stored session, as they were sent to it.
 *
 * @throws AlliumError `approval.forged` for a call that was not sent to this client
 */
export async function verifyClientCalls(
  host: Host,
  caller: Caller,
  calls: readonly ClientCall[],
): Promise<Map<string, { name: string; args: Record<string, unknown> }>> {
  const verified = new Map<string, { name: string; args: Record<string, unknown> }>()
  for (const { id, name, args } of calls) {
    if (args === undefined || !(await hasValidSeal(host, caller, id, { name, args }))) throw forgedCallError(id)
    verified.set(id, { name, args })
  }
  return verified
}

async function hasValidSeal(
  { options: { secret } }: Host,
  caller: Caller,
  id: string,
  call: { name: string; args: unknown },
): Promise<boolean> {
  const [, nonce, mac] = /^call_([0-9a-f]{12})([\w-]{22})$/.exec(id) ?? []
  if (secret === undefined || nonce === undefined || mac === undefined) return false
  const seal = await sealOf(sealPayload(caller, nonce, call), secret)
  return timingSafeEqual(mac, seal)
}

/** Takes the same time wherever the strings differ. */
function timingSafeEqual(mac: string, seal: string): boolean {
  let difference = 0
  for (let index = 0; index < macLength; index++) difference |= mac.charCodeAt(index) ^ seal.charCodeAt(index)
  return difference === 0
}

function forgedCallError(id: unknown) {
  const call = typeof id === 'string' ? JSON.stringify(id.slice(0, 60)) : 'without its id'
  return requestError(
    'approval.forged',
    `The call ${call} was not handed to this client with these arguments: its result is not taken.`,
  )
}

/** Returns the results of the calls as a message of the history. @throws AlliumError `approval.forged` */
export function resultMessage(
  calls: ReadonlyMap<string, { name: string }>,
  results: readonly { id: unknown; text: string }[],
): Message {
  const content = results.map(({ id, text }) => {
    const call = calls.get(String(id))
    if (call === undefined) throw forgedCallError(id)
    return { type: 'tool-result' as const, callId: String(id), name: call.name, content: text }
  })
  if (content.length === calls.size && new Set(content.map(({ callId }) => callId)).size === calls.size)
    return { role: 'tool', content }
  throw requestError(
    'request.invalid',
    'Each call that was handed back has one message of the role tool, right behind it.',
  )
}

/** Returns the results of calls as decisions, for a stored session. A later step checks that the calls are pending and are the client's. */
export async function decisionsFromResults(
  host: Host,
  caller: Caller,
  waiting: readonly PendingCall[],
  results: readonly { id: unknown; text: string }[],
): Promise<Record<string, Decision>> {
  const unmatched = waiting.filter(({ client }) => client === true)
  const decisions: Record<string, Decision> = {}
  for (const { id, text } of results) {
    const givenId = String(id)
    const matches = await Promise.all(
      unmatched.map(async (call) => call.callId === givenId || hasValidSeal(host, caller, givenId, call)),
    )
    const [call] = unmatched.splice(matches.indexOf(true) >>> 0, 1)
    decisions[call?.callId ?? givenId] = { result: text, ...(call?.token !== undefined && { token: call.token }) }
  }
  return decisions
}
