import { equalJson } from '../messages/json.ts'
import type { Message, Part } from '../messages/message.ts'
import type { Assembly } from './assembly.ts'

/** Returns the message with another text. Undefined if nothing is left. */
export function withText(message: Message, text: string): Message | undefined {
  if (typeof message.content === 'string') return text === '' ? undefined : { ...message, content: text }
  const at = message.content.findIndex((part) => part.type === 'text')
  const content: Part[] = message.content.filter((part) => part.type !== 'text')
  const textPart: Part = { type: 'text', text }
  if (text !== '') content.splice(at < 0 ? content.length : at, 0, textPart)
  return content.length === 0 ? undefined : { ...message, content }
}

/** Returns the message with only its tool calls and the provider's tool results. Undefined if nothing is left. */
export function withoutContent(message: Message): Message | undefined {
  if (typeof message.content === 'string') return undefined
  const content = message.content.filter(({ type }) => type === 'tool-call' || type === 'tool-result')
  return content.length === 0 ? undefined : { ...message, content }
}

/** Returns the message with text, reasoning and files as streamed. Returns the same object if they are equal. */
export function withStreamedContent(message: Message, assembly: Assembly): Message | undefined {
  const streamed = contentParts(assembly.content().message)
  if (equalJson(streamed, contentParts(message))) return message
  const others = typeof message.content === 'string' ? [] : message.content.filter((part) => !isContentPart(part))
  const content = [...streamed, ...others]
  const [first, second] = content
  if (first === undefined) return undefined
  const isText = second === undefined && first.type === 'text' && first.providerMetadata === undefined
  return { ...message, content: isText ? first.text : content }
}

function contentParts({ content }: Message): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content.filter(isContentPart)
}

function isContentPart({ type }: Part): boolean {
  return type === 'text' || type === 'reasoning' || type === 'file' || type === 'custom'
}
