import type { ClientInput } from '@allium/server/client'
import type { ChatMessage, MessagePart, MessageStatus } from './chat-message.ts'
import type { OutboxItem } from './outbox.ts'

/** Returns the messages with an input at its place: at the end, or in place of the message that it edits. */
export function withItem(
  messages: readonly ChatMessage[],
  { id, input, messageId, again }: OutboxItem,
  status: MessageStatus,
): ChatMessage[] {
  const index = messageId === undefined ? -1 : messages.findIndex((candidate) => candidate.id === messageId)
  const edited = messages[index]
  const message = edited !== undefined && again ? { ...edited, status } : userMessage(messageId ?? id, input, status)
  return [...(edited === undefined ? messages : messages.slice(0, index)), message]
}

function userMessage(id: string, input: ClientInput, status: MessageStatus): ChatMessage {
  const parts = typeof input === 'string' ? [{ type: 'text' as const, text: input }] : input.map(partOf)
  return { id, role: 'user', status, parts }
}

function partOf(part: Exclude<ClientInput, string>[number]): MessagePart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  return { type: 'file', mediaType: part.mediaType, url: `data:${part.mediaType};base64,${part.data}` }
}
