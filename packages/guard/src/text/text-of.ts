import type { Message, Part } from '@allium/core'
import { unsupportedKind } from './unsupported-kind.ts'

/** Returns all text of the messages, including tool results. */
export function textOf(messages: readonly Pick<Message, 'content'>[]): string {
  return messages.flatMap(({ content }) => textParts(content)).join('\n')
}

function textParts(content: Message['content']): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content]
  return content.flatMap(textPartsOfPart)
}

function textPartsOfPart(part: Part): string[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text === '' ? [] : [part.text]
    case 'tool-result':
      return textParts(part.content)
    case 'tool-call':
    case 'image':
    case 'file':
    case 'custom':
      return []
    default:
      return unsupportedKind(part, 'part')
  }
}
