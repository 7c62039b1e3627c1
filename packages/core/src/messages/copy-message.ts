import { cloneJson } from './json.ts'
import type { Message } from './message.ts'

/** A message of one's own: changing it, however deep, changes nothing else. Bytes and URLs are shared. */
export function copyMessage(message: Message): Message {
  return typeof message.content === 'string' ? { ...message } : cloneJson(message)
}
