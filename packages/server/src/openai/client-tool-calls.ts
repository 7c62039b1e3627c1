import { type Decision, type Message, type PendingCall, sealOf, type ToolDef } from '@allium/core'
import type { Host } from '../host.ts'
import { requestError } from '../http/problem.ts'
import type { Caller } from '../request/caller.ts'
import type { ClientCall } from './messages.ts'

/** A call of a client's tool as Chat Completions has it: https://platform.openai.com/docs/api-reference/chat/object */
export interface WireCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/**
 * The tools of a client that may be called. In a session that is not stored nothing tells which calls were handed back but their ids,
 * which are sealed: that takes the option `secret`.
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

/** The calls that the client is to run; under sealed ids where the client is to give them back by those alone. */
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

/** 132 bits, so that an id stays below the 40 characters that providers take. */
const macLength = 22

function sealPayload({ tenant, owner, agent }: Caller, nonce: string, call: { name: string; args: unknown }): unknown {
  return [tenant, owner, agent.name, nonce, call.name, call.args]
}

/**
 * The calls of a client that is not kept, as they were handed to it.
 *
 * @throws AlliumError `approval.forged` for a call that was not handed to this client
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

/** In a time that does not tell where they differ. */
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

/** What came of the calls as a message of the history. @throws AlliumError `approval.forged` */
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

/** In a stored session: the results of calls; that they wait there, and were handed to a client, is checked as they are used. */
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
