import type { SessionHistory } from '@allium/server/client'
import type { ChatMessage, MessagePart, ToolPart, ToolState } from './chat-message.ts'

type HistoryMessage = SessionHistory['messages'][number]
type HistoryPart = HistoryMessage['parts'][number]

/** Returns the messages of a history for display. */
export function fromHistory({ messages }: Pick<SessionHistory, 'messages'>): ChatMessage[] {
  return messages.map(({ id, role, parts }) => {
    const converted = parts.flatMap(fromPart)
    const isSuspended = converted.some((part) => part.type === 'tool' && part.state === 'pending')
    return { id, role, status: isSuspended ? 'suspended' : 'done', parts: converted }
  })
}

function fromPart(part: HistoryPart): MessagePart[] {
  if (part.type === 'text' || part.type === 'reasoning') return [{ type: part.type, text: String(part.text) }]
  if (part.type === 'file') return [fileOf(part)]
  if (part.type === 'source-url') return [{ type: 'source', url: String(part.url), ...titleOf(part) }]
  if (part.type === 'data-steer')
    return [{ type: 'steer', id: String(part.id), text: (part.data as { text: string }).text }]
  return part.type.startsWith('tool-') ? [toolPart(part)] : []
}

function fileOf({ mediaType, url, own }: HistoryPart): MessagePart {
  return { type: 'file', mediaType: String(mediaType), url: String(url), ...(own === true && { own }) }
}

function titleOf({ title }: HistoryPart): { title?: string } {
  return typeof title === 'string' ? { title } : {}
}

const states: Readonly<Record<string, ToolState>> = {
  'input-available': 'running',
  'approval-requested': 'pending',
  'output-available': 'done',
  'output-error': 'error',
}

function toolPart(part: HistoryPart): ToolPart {
  const callId = String(part.toolCallId)
  const name = part.type.slice('tool-'.length)
  const args = part.input as Record<string, unknown>
  const result = part.output ?? part.errorText
  const token = (part.approval as { id: string } | undefined)?.id
  return {
    type: 'tool',
    callId,
    name,
    args,
    state: states[String(part.state)] ?? 'done',
    ...(result !== undefined && { result: String(result) }),
    ...(token !== undefined && { call: { callId, name, args, ...(token !== callId && { token }) } }),
  }
}
