import type { Decision, FilePart, ImagePart, Input, PendingCall, TextPart, ToolDef } from '@allium/core'
import { fail } from '../http/problem.ts'
import { namedTool } from '../native/client-tools.ts'
import { isBase64 } from '../native/input.ts'

/** What a client of AG-UI asks: its newest message, the results of its tools, or answers to interrupts. The rest of what it sends is not read. */
export interface AguiAsked {
  readonly threadId: string
  readonly runId: string
  readonly input?: Input
  readonly resume?: readonly Resumed[]
  readonly results?: readonly { readonly id: unknown; readonly text: string }[]
  /** Tools that it runs itself. */
  readonly clientTools?: readonly ToolDef[] | undefined
}

interface Resumed {
  readonly interruptId: string
  readonly decision: Decision
}

/** @throws AlliumError `request.invalid` */
export function aguiAsked({ threadId, runId, messages, tools, resume }: Record<string, unknown>): AguiAsked {
  if (typeof threadId !== 'string' || typeof runId !== 'string' || !Array.isArray(messages))
    throw fail('request.invalid', 'The body is the input of a run of AG-UI: { threadId, runId, messages, … }.')
  const asked = { threadId, runId, clientTools: toolsOf(tools) }
  if (Array.isArray(resume) && resume.length > 0) return { ...asked, resume: resume.map(resumed) }
  const last = object(messages.at(-1))
  if (last.role === 'tool') return { ...asked, results: resultsIn(messages) }
  if (last.role !== 'user')
    throw fail('request.invalid', 'The last of `messages` is to be one of the user, or the result of a tool.')
  return { ...asked, input: { role: 'user', content: contentOf(last.content) } }
}

function toolsOf(tools: unknown): readonly ToolDef[] | undefined {
  if (!Array.isArray(tools) || tools.length === 0) return undefined
  return tools.map((tool) => {
    const { name, description, parameters = { type: 'object' } } = object(tool)
    return namedTool({ name, description, jsonSchema: parameters })
  })
}

/** What tools of the client have given since anybody said something; what went wrong with one is its result, too. */
function resultsIn(messages: readonly unknown[]): { id: unknown; text: string }[] {
  const from = messages.findLastIndex((message) => object(message).role !== 'tool') + 1
  return messages.slice(from).map((message) => {
    const { toolCallId, content, error } = object(message)
    const text = typeof error === 'string' && error !== '' ? error : content
    if (typeof text === 'string') return { id: toolCallId, text }
    throw fail('request.invalid', 'The result of a tool is { role: "tool", toolCallId, content }, with a text.')
  })
}

/**
 * The decisions by call id. An interrupt has the token of its call as its id.
 *
 * @param missing why none of the calls that wait is that of an interrupt
 */
export async function decisionsOf(
  resume: readonly Resumed[],
  waiting: readonly PendingCall[],
  missing: (interruptId: string) => Promise<Error>,
): Promise<Readonly<Record<string, Decision>>> {
  const decisions: Record<string, Decision> = {}
  for (const { interruptId, decision } of resume) {
    const call = waiting.find(({ callId, token = callId }) => token === interruptId)
    if (call === undefined) throw await missing(interruptId)
    decisions[call.callId] = call.token === undefined ? decision : { ...decision, token: call.token }
  }
  return decisions
}

/** What answers an interrupt. */
export const answerSchema = {
  type: 'object',
  required: ['approved'],
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' }, editedArgs: { type: 'object' } },
}

function resumed(value: unknown): Resumed {
  const { interruptId, status, payload } = object(value)
  if (typeof interruptId !== 'string') throw invalidResume()
  if (status === 'cancelled') return { interruptId, decision: { deny: 'Denied.' } }
  const { approved, reason, editedArgs } = object(payload)
  if (status !== 'resolved' || typeof approved !== 'boolean') throw invalidResume()
  if (!approved) return { interruptId, decision: { deny: typeof reason === 'string' ? reason : 'Denied.' } }
  if (editedArgs === undefined || editedArgs === null) return { interruptId, decision: { approve: true } }
  return { interruptId, decision: { args: object(editedArgs) } }
}

function invalidResume() {
  return fail(
    'request.invalid',
    'An entry of `resume` is { interruptId, status: "resolved", payload: { approved, reason?, editedArgs? } }, or cancelled.',
  )
}

function contentOf(content: unknown): string | (TextPart | ImagePart | FilePart)[] {
  if (typeof content === 'string' && content !== '') return content
  if (Array.isArray(content) && content.length > 0) return content.map(partOf)
  throw fail('request.invalid', 'The content of a message is a text or a list of parts.')
}

function partOf(value: unknown): TextPart | ImagePart | FilePart {
  const { type, text, source } = object(value)
  if (type === 'text' && typeof text === 'string') return { type, text }
  const { type: kind, value: data, mimeType: mediaType } = object(source ?? {})
  if (kind !== 'data' || !isBase64(data) || typeof mediaType !== 'string')
    throw fail('request.invalid', 'A file comes as base64, in a source of the type data: URLs are not fetched.')
  return { type: type === 'image' ? 'image' : 'file', data, mediaType }
}

function object(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw fail('request.invalid', 'Messages, their parts and entries of `resume` are objects.')
}
