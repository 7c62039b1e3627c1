import type { ClientInput } from '@allium/server/client'
import type { ChatMessage, MessagePart, MessageStatus } from './chat-message.ts'

export function userMessage(id: string, input: ClientInput, status: MessageStatus): ChatMessage {
  const parts = typeof input === 'string' ? [{ type: 'text' as const, text: input }] : input.map(partOf)
  return { id, role: 'user', status, parts }
}

export function inputText(input: ClientInput): string {
  if (typeof input === 'string') return input
  return input.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

export function isEmptyInput(input: ClientInput): boolean {
  return typeof input === 'string' ? input.trim() === '' : input.length === 0
}

function partOf(part: Exclude<ClientInput, string>[number]): MessagePart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  return { type: 'file', mediaType: part.mediaType, url: `data:${part.mediaType};base64,${part.data}` }
}
