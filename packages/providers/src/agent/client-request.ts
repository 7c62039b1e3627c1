import { AlliumError, type FilePart, type ImagePart, type Message, type TextPart } from '@allium/core'

/** The arguments of `agent.stream()` that are used. */
export interface StreamOptions {
  prompt?: unknown
  messages?: unknown
  abortSignal?: AbortSignal | undefined
  timeout?: unknown
  [option: string]: unknown
}

/** A client's response to an approval, by its id. */
export interface Response {
  approvalId: string
  /** The call that the client claims the approval is for. */
  callId: string | undefined
  approved: boolean
  reason: string | undefined
}

/** A client's output of a call; it counts only for calls that were handed to the client. */
interface Output {
  callId: string
  result: unknown
  isError: boolean
}

/** The used part of a client's messages: its newest input, or its answers to calls. The rest is ignored. */
export type ClientRequest = { input: Message; answers?: never } | { answers: ClientAnswers; input?: never }

export interface ClientAnswers {
  responses: Response[]
  outputs: Output[]
}

type JsonRecord = { [field: string]: unknown }

/** @throws AlliumError `request.invalid` */
export function parseClientRequest({ prompt, messages }: StreamOptions): ClientRequest {
  const messageInput = prompt ?? messages
  if (typeof messageInput === 'string') return { input: { role: 'user', content: messageInput } }
  const list = Array.isArray(messageInput) ? (messageInput as JsonRecord[]) : []
  const lastMessage = list.at(-1)
  if (lastMessage?.role === 'user') return { input: { role: 'user', content: contentOf(lastMessage.content) } }
  const answers = { responses: parseResponses(list), outputs: parseOutputs(list) }
  if (answers.responses.length + answers.outputs.length > 0) return { answers }
  throw invalid('The last message must be a user message, answer an approval request, or have the output of a call.')
}

function contentOf(content: unknown): string | (TextPart | ImagePart | FilePart)[] {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(partOf)
  throw invalid('A user message must be a string or have parts.')
}

function partOf(value: JsonRecord): TextPart | ImagePart | FilePart {
  const { type, text, mediaType, filename } = value
  if (type === 'text' && typeof text === 'string') return { type, text }
  if (type !== 'file' && type !== 'image')
    throw invalid('A user message may only have parts of the types text and file.')
  const data = bytesOf(value.data ?? value.image)
  if (data === undefined || typeof mediaType !== 'string')
    throw invalid('A file must be a base64 data URL with its media type, because other URLs are not fetched.')
  if (mediaType.startsWith('image/')) return { type: 'image', data, mediaType }
  return { type: 'file', data, mediaType, ...(typeof filename === 'string' && { filename }) }
}

/** `ai` 6 passes a file's URL directly, `ai` 7 in a wrapper object. */
function bytesOf(data: unknown): Uint8Array | string | undefined {
  if (data instanceof Uint8Array) return data
  const unwrapped = typeof data === 'object' && data !== null && 'url' in data ? data.url : data
  return /^data:[^,]{0,200};base64,([\w+/]*={0,2})$/.exec(String(unwrapped))?.[1]
}

function parseResponses(messages: readonly JsonRecord[]): Response[] {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as JsonRecord[]) : []))
  const requestedCalls = new Map(
    parts.flatMap(({ type, approvalId, toolCallId }) =>
      type === 'tool-approval-request' ? [[approvalId, toolCallId]] : [],
    ),
  )
  return parts.flatMap(({ type, approvalId, approved, reason }) => {
    if (type !== 'tool-approval-response' || typeof approvalId !== 'string' || typeof approved !== 'boolean') return []
    const callId = requestedCalls.get(approvalId)
    return [
      {
        approvalId,
        callId: typeof callId === 'string' ? callId : undefined,
        approved,
        reason: typeof reason === 'string' && reason !== '' ? reason : undefined,
      },
    ]
  })
}

/** Reads outputs in the form that `convertToModelMessages` of `ai` 6 and 7 gives tool parts. */
function parseOutputs(messages: readonly JsonRecord[]): Output[] {
  return messages
    .flatMap(({ content }) => (Array.isArray(content) ? (content as JsonRecord[]) : []))
    .flatMap(({ type, toolCallId, output }) => {
      if (type !== 'tool-result' || typeof toolCallId !== 'string') return []
      const { type: kind, value } = (output ?? {}) as JsonRecord
      return [{ callId: toolCallId, result: value ?? null, isError: String(kind).startsWith('error') }]
    })
}

function invalid(message: string): AlliumError {
  return new AlliumError('request.invalid', message)
}
