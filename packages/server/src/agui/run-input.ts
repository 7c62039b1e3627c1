import type { Decision, Message, PendingCall, ToolDef } from '@allium/core'
import { clientTool, clientTools } from '../request/client-schemas.ts'
import { list, openObject, variants } from '../request/containers.ts'
import { base64, type ContentPart, content, filePart, maxMessages, mediaType, textPart } from '../request/content.ts'
import { id, messageId, sessionId, token } from '../request/fields.ts'
import { anyObject, anything, flag, mapped, nullable, oneOf, type Schema, text } from '../request/schema.ts'
import { childLocation, rejection, type ValueLocation } from '../request/value-location.ts'

/** The request of an AG-UI client: its newest message, or the results of its tools. */
export type AguiRequest =
  | { readonly userMessage: UserMessage; readonly results?: undefined }
  | { readonly results: readonly ToolResult[]; readonly userMessage?: undefined }

interface UserMessage {
  readonly id: string | undefined
  /** The id of the user message before it. */
  readonly previous: string | undefined
  readonly content: Message['content']
}

interface ToolResult {
  readonly id: string
  readonly text: string
}

export interface ResumeEntry {
  readonly interruptId: string
  readonly decision: Decision
}

const source = variants('type', {
  data: openObject({ type: oneOf('data'), value: base64, mimeType: mediaType }),
})

/** Images, audio, video and documents have the same format. */
const filePartOf = (type: string): Schema<ContentPart> =>
  mapped(openObject({ type: oneOf(type), source }), ({ source: { value: data, mimeType } }) =>
    type === 'image' ? { type, data, mediaType: mimeType } : filePart({ data, mediaType: mimeType }),
  )

const part: Schema<ContentPart> = variants('type', {
  text: textPart,
  image: filePartOf('image'),
  audio: filePartOf('audio'),
  video: filePartOf('video'),
  document: filePartOf('document'),
})

const userMessage = openObject({ id: nullable(messageId), role: oneOf('user'), content: content(part) })
const toolMessage = openObject({
  role: oneOf('tool'),
  toolCallId: id,
  content: nullable(text()),
  error: nullable(text()),
})
/** Earlier messages are not read. */
const anyMessage = openObject({ role: text({ max: 100 }), id: nullable(anything()) })

const messages = mapped(
  list(anything({ anyOf: [userMessage.json, toolMessage.json, anyMessage.json] }), { max: maxMessages }),
  (all, location) => ({ all, location }),
)

type Messages = ReturnType<typeof messages.parse>

const tool: Schema<ToolDef> = mapped(
  openObject({ name: text(), description: nullable(text()), parameters: nullable(anyObject()) }),
  ({ name, description = '', parameters: jsonSchema = { type: 'object' } }, location) =>
    clientTool.parse({ name, description, jsonSchema }, location),
)

/** The response to an interrupt. */
const answer = openObject({
  approved: flag(),
  reason: nullable(text({ max: 10_000 })),
  editedArgs: nullable(anyObject()),
})

const resumeEntry: Schema<ResumeEntry> = variants('status', {
  resolved: mapped(
    openObject({ interruptId: token, status: oneOf('resolved'), payload: answer }),
    ({ interruptId, payload }): ResumeEntry => ({ interruptId, decision: toDecision(payload) }),
  ),
  cancelled: mapped(
    openObject({ interruptId: token, status: oneOf('cancelled') }),
    ({ interruptId }): ResumeEntry => ({ interruptId, decision: { deny: 'Denied.' } }),
  ),
})

function toDecision({ approved, reason = 'Denied.', editedArgs }: ReturnType<typeof answer.parse>): Decision {
  if (!approved) return { deny: reason }
  return editedArgs === undefined ? { approve: true } : { args: editedArgs as Record<string, unknown> }
}

/** The input of a run of AG-UI: https://docs.ag-ui.com/sdk/js/core/types */
export const runInput = openObject({
  threadId: sessionId,
  runId: text({ min: 1, max: 1000 }),
  messages,
  tools: nullable(clientTools(tool)),
  resume: nullable(list(resumeEntry, { max: 1000 })),
})

/** Returns the request in the newest messages. */
export function requestIn({ all, location }: Messages): AguiRequest {
  const parsed = all.map((message, index) => anyMessage.parse(message, childLocation(location, index)))
  const roles = parsed.map(({ role }) => role)
  const lastIndex = all.length - 1
  if (roles.at(-1) === 'user') {
    const previous = parsed.findLast(({ role }, at) => role === 'user' && at < lastIndex)?.id as string | undefined
    return {
      userMessage: {
        id: undefined,
        ...userMessage.parse(all[lastIndex], childLocation(location, lastIndex)),
        previous,
      },
    }
  }
  if (roles.at(-1) !== 'tool') throw rejection(location, 'must end with a user message or a tool result.')
  const from = roles.findLastIndex((role) => role !== 'tool') + 1
  return {
    results: all.slice(from).map((message, index) => toToolResult(message, childLocation(location, from + index))),
  }
}

/** Returns the result of a client tool. An error of the tool is a result too. */
function toToolResult(message: unknown, location: ValueLocation): ToolResult {
  const { toolCallId, content: toolContent, error } = toolMessage.parse(message, location)
  const resultText = error === undefined || error === '' ? toolContent : error
  if (resultText !== undefined) return { id: toolCallId, text: resultText }
  throw rejection(location, 'is a tool result whose `content` is not a string.')
}

/** Returns the JSON Schema of a decision, for clients that ask a person. A call that a provider runs accepts no other arguments. */
export function answerSchema({ provider, token: callToken }: Pick<PendingCall, 'provider' | 'token'>): object {
  // A reader without a token may not approve the call, but may deny it.
  const approved = callToken === undefined ? { const: false } : { type: 'boolean' }
  const properties = { approved, reason: { type: 'string' } }
  const edits = provider === undefined && callToken !== undefined && { editedArgs: { type: 'object' } }
  return { type: 'object', required: ['approved'], properties: { ...properties, ...edits } }
}

/**
 * Returns the decisions by call id. The id of an interrupt is the token of its call.
 *
 * @param notFoundError returns the error for an interrupt that matches no pending call
 */
export async function decisionsOf(
  resume: readonly ResumeEntry[],
  waiting: readonly PendingCall[],
  notFoundError: (interruptId: string) => Promise<Error>,
): Promise<Readonly<Record<string, Decision>>> {
  const decisions: Record<string, Decision> = {}
  for (const { interruptId, decision } of resume) {
    const call = waiting.find((pending) => (pending.token ?? pending.callId) === interruptId)
    if (call === undefined) throw await notFoundError(interruptId)
    decisions[call.callId] = call.token === undefined ? decision : { ...decision, token: call.token }
  }
  return decisions
}
