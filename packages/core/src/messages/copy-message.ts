import { cloneJson } from './json.ts'
import type { Message } from './message.ts'

/** Returns a deep copy of a message. Bytes and URLs are shared. */
export function copyMessage(message: Message): Message {
  return typeof message.content === 'string' ? { ...message } : cloneJson(message)
}
