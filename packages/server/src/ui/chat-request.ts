import type { Decision, Message, ToolDef } from '@allium/core'
import { clientTool, clientTools } from '../request/client-schemas.ts'
import { list, openObject, variants } from '../request/containers.ts'
import { content, dataUrl, filename, filePart, maxMessages, mediaType, textPart } from '../request/content.ts'
import { id, messageId, sessionId, token } from '../request/fields.ts'
import { anything, flag, mapped, nullable, oneOf, type Schema, text } from '../request/schema.ts'
import { childLocation, rejection, type ValueLocation, violation } from '../request/value-location.ts'

/** The request of an AI SDK client: its newest message, or its responses to calls. The rest of the body is not read. */
export type ChatRequest =
  | { userMessage: UserMessage; callResponses?: undefined }
  | { callResponses: CallResponses; userMessage?: undefined }

/** The newest message of a page. */
export interface UserMessage {
  readonly id: string | undefined
  /** The id of the user message before it. */
  readonly previous: string | undefined
  /** @throws AlliumError `request.invalid` for content that only the server can have sent, such as a link to a file */
  content(): Message['content']
}

/** Decisions about pending calls, and outputs of calls that the page may have run. */
export interface CallResponses {
  decisions: Record<string, Decision>
  results: Record<string, Decision>
}

const userPart = variants('type', {
  text: textPart,
  file: mapped(
    openObject({ type: oneOf('file'), url: dataUrl, mediaType, filename: nullable(filename) }),
    ({ url, ...file }) => filePart({ ...file, data: url.data }),
  ),
})

const userContent = mapped(content(userPart), (value, location) => {
  if (typeof value !== 'string') return value
  throw violation(location, 'a list of parts', value)
})

/** A part of an answer: only responses to calls are read. */
const answerPart = variants(
  'state',
  {
    'approval-responded': openObject({
      state: oneOf('approval-responded'),
      toolCallId: id,
      approval: openObject({ id: token, approved: flag(), reason: nullable(text({ max: 10_000 })) }),
    }),
    'output-available': openObject({
      state: oneOf('output-available'),
      toolCallId: id,
      output: nullable(anything()),
    }),
    'output-error': openObject({
      state: oneOf('output-error'),
      toolCallId: id,
      errorText: nullable(text()),
    }),
  },
  openObject({ state: nullable(anything()) }),
)

/** Parts are parsed only where they matter: in the last message, and for responses to calls. */
const anyPart = anything({ anyOf: [userPart.json, answerPart.json, {}] })
const message = openObject({
  id: nullable(anything(messageId.json)),
  role: oneOf('system', 'user', 'assistant'),
  parts: list(anyPart, { max: 10_000 }),
})
const givenId = nullable(messageId)

const messages = mapped(list(message, { min: 1, max: maxMessages }), (all, location): ChatRequest => {
  const lastIndex = all.length - 1
  const last = all[lastIndex]
  const partsOf = (index: number) => childLocation(childLocation(location, index), 'parts')
  if (last?.role === 'user') {
    const previous = all.findLast(({ role }, index) => role === 'user' && index < lastIndex)?.id as string | undefined
    return {
      userMessage: {
        id: givenId.parse(last.id, childLocation(childLocation(location, lastIndex), 'id')),
        previous,
        content: () => userContent.parse(last.parts, partsOf(lastIndex)),
      },
    }
  }
  return {
    callResponses: callResponsesIn(
      all.map(({ parts }, index) => [parts, partsOf(index)] as const),
      location,
    ),
  }
})

const answerParts = list(answerPart, { max: 10_000 })

function callResponsesIn(
  all: readonly (readonly [readonly unknown[], ValueLocation])[],
  location: ValueLocation,
): CallResponses {
  const parts = all.flatMap(([rawParts, partLocation]) => answerParts.parse(rawParts, partLocation))
  const decisions = Object.fromEntries(parts.flatMap(decisionOf))
  const results = Object.fromEntries(parts.flatMap(resultOf))
  if (Object.keys({ ...decisions, ...results }).length > 0) return { decisions, results }
  throw rejection(location, 'must end with a user message, or have decisions or outputs for pending calls.')
}

type AnswerPart = ReturnType<typeof answerPart.parse>

/** The id of an approval is the token of its call. A reader who may not approve the call has no token; then the id is that of the call. */
function decisionOf(part: AnswerPart): [string, Decision][] {
  if (part.state !== 'approval-responded' || !('approval' in part)) return []
  const { id: approvalId, approved, reason } = part.approval
  const callToken = approvalId === part.toolCallId ? {} : { token: approvalId }
  if (approved) return [[part.toolCallId, { approve: true, ...callToken }]]
  return [[part.toolCallId, { deny: reason === undefined || reason === '' ? 'Denied.' : reason, ...callToken }]]
}

/** Returns the output that a page sent for a call. It counts only if the page was given the call. */
function resultOf(part: AnswerPart): [string, Decision][] {
  if (part.state === 'output-available' && 'toolCallId' in part)
    return [[part.toolCallId, { result: ('output' in part ? part.output : undefined) ?? null }]]
  if (part.state !== 'output-error' || !('errorText' in part)) return []
  return [[part.toolCallId, { result: String(part.errorText), isError: true }]]
}

/** The body that `DefaultChatTransport` of the AI SDK sends. */
export const chatBody: Schema<{
  readonly id: string
  readonly trigger?: string | undefined
  readonly messages: ChatRequest
  readonly clientTools?: readonly ToolDef[] | undefined
}> = openObject({
  id: sessionId,
  trigger: nullable(text({ max: 100 })),
  messages,
  clientTools: nullable(clientTools(clientTool)),
})
