import type { Message, PendingCall, ToolDef } from '@allium/core'
import { forgedCallError, sealedCallId } from '../approvals/client-calls.ts'
import type { Seals } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import type { Caller } from '../request/caller.ts'

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
  { options: { secret } }: Seals,
  isStored: boolean,
): readonly ToolDef[] | undefined {
  if (tools === undefined || choice === 'none') return undefined
  if (isStored || secret !== undefined) return tools
  throw requestError(
    'request.invalid',
    'The field `tools` is not accepted here. Client tools need a session, or the option `secret` of server().',
    { field: 'tools' },
  )
}

/** Whether a person must decide one of the calls, which this API cannot ask for. */
export function needsApproval(pending: readonly PendingCall[]): boolean {
  return pending.some(({ client }) => client !== true)
}

/** Returns the calls that the client must run. Their ids are sealed if the client returns the calls without a stored session. */
export async function clientToolCalls(
  { options: { secret = '' } }: Seals,
  caller: Caller,
  pending: readonly PendingCall[],
  isSealed: boolean,
): Promise<WireCall[]> {
  const clientCalls = pending.filter(({ client }) => client === true)
  return Promise.all(
    clientCalls.map(async ({ callId, name, args }) => {
      const id = isSealed ? await sealedCallId(secret, caller, { name, args }) : callId
      return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
    }),
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
    'Each call of a client tool needs one message with the role tool directly after it.',
  )
}
