import type { Message, Part } from './message.ts'

/** Copies that may be changed in place: each message and its parts are new, what lies deeper is shared and frozen. */
export function workingCopy(messages: readonly Message[]): Message[] {
  return messages.map(copyMessage)
}

function copyMessage(message: Message): Message {
  const { content } = message
  return typeof content === 'string' ? { ...message } : { ...message, content: content.map(copyPart) }
}

function copyPart(part: Part): Part {
  return { ...part }
}
