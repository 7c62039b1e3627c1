import { type Decision, type Message, type PendingCall, sealOf, type ToolDef } from '@allium/core'
import type { Host } from '../host.ts'
import { fail } from '../http/problem.ts'
import type { Visit } from '../visit.ts'
import type { GivenCall } from './messages.ts'

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
  throw fail(
    'request.invalid',
    'The field `tools` is not taken here: calls of tools of a client need a session, or the option `secret` of server().',
    { field: 'tools' },
  )
}

/** The calls that the client is to run; under sealed ids where the client is to give them back by those alone. */
export async function handedBack(
  { options: { secret = '' } }: Host,
  asks: Visit,
  pending: readonly PendingCall[],
  isSealed: boolean,
): Promise<WireCall[]> {
  const own = pending.filter(({ client }) => client === true)
  return Promise.all(
    own.map(async ({ callId, name, args }) => {
      const nonce = crypto.randomUUID().replaceAll('-', '').slice(0, 12)
      const id = isSealed
        ? `call_${nonce}${(await sealOf(boundOf(asks, nonce, { name, args }), secret)).slice(0, macLength)}`
        : callId
      return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
    }),
  )
}

/** 132 bits, so that an id stays below the 40 characters that providers take. */
const macLength = 22

function boundOf({ tenant, owner, agent }: Visit, nonce: string, call: { name: string; args: unknown }): unknown {
  return [tenant, owner, agent.name, nonce, call.name, call.args]
}

/**
 * The calls of a client that is not kept, as they were handed to it.
 *
 * @throws AlliumError `approval.forged` for a call that was not handed to this client
 */
export async function handedTo(
  host: Host,
  asks: Visit,
  calls: readonly GivenCall[],
): Promise<Map<string, { name: string; args: Record<string, unknown> }>> {
  const found = new Map<string, { name: string; args: Record<string, unknown> }>()
  for (const { id, name, args } of calls) {
    if (args === undefined || !(await isOurs(host, asks, id, { name, args }))) throw forged(id)
    found.set(id, { name, args })
  }
  return found
}

async function isOurs(
  { options: { secret } }: Host,
  asks: Visit,
  id: string,
  call: { name: string; args: unknown },
): Promise<boolean> {
  const [, nonce, mac] = /^call_([0-9a-f]{12})([\w-]{22})$/.exec(id) ?? []
  if (secret === undefined || nonce === undefined || mac === undefined) return false
  const whole = await sealOf(boundOf(asks, nonce, call), secret)
  return sameStart(mac, whole)
}

/** In a time that does not tell where they differ. */
function sameStart(mac: string, seal: string): boolean {
  let difference = 0
  for (let at = 0; at < macLength; at++) difference |= mac.charCodeAt(at) ^ seal.charCodeAt(at)
  return difference === 0
}

function forged(id: unknown) {
  const call = typeof id === 'string' ? JSON.stringify(id.slice(0, 60)) : 'without its id'
  return fail(
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
    if (call === undefined) throw forged(id)
    return { type: 'tool-result' as const, callId: String(id), name: call.name, content: text }
  })
  if (content.length === calls.size && new Set(content.map(({ callId }) => callId)).size === calls.size)
    return { role: 'tool', content }
  throw fail('request.invalid', 'Each call that was handed back has one message of the role tool, right behind it.')
}

/** In a stored session: the results of calls; that they wait there, and were handed to a client, is checked as they are used. */
export async function resultsFor(
  host: Host,
  asks: Visit,
  waiting: readonly PendingCall[],
  results: readonly { id: unknown; text: string }[],
): Promise<Record<string, Decision>> {
  const left = waiting.filter(({ client }) => client === true)
  const decisions: Record<string, Decision> = {}
  for (const { id, text } of results) {
    const given = String(id)
    const fits = await Promise.all(left.map(async (call) => call.callId === given || isOurs(host, asks, given, call)))
    const [call] = left.splice(fits.indexOf(true) >>> 0, 1)
    decisions[call?.callId ?? given] = { result: text, ...(call?.token !== undefined && { token: call.token }) }
  }
  return decisions
}
