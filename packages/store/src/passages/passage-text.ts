import type { Message } from '@allium/core'

/** Returns the text of a message that recall searches and hands over: its text parts, one per line. Reasoning, calls and files have none. */
export function passageText({ content }: Pick<Message, 'content'>): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
