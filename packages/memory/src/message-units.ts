import type { Message } from '@allium/core'

/** Messages that stand or go together: an answer with the results of its tool calls; anything else alone. */
export function messageUnits(messages: readonly Message[]): Message[][] {
  const units: Message[][] = []
  for (const message of messages) {
    const last = units.at(-1)
    if (message.role === 'tool' && last !== undefined) last.push(message)
    else units.push([message])
  }
  return units
}

/** Without what stands before the first message of a user: providers refuse a conversation that begins with an answer. */
export function fromFirstUserMessage<M extends Readonly<Message>>(messages: M[]): M[] {
  return messages.slice(
    Math.max(
      0,
      messages.findIndex(({ role }) => role === 'user'),
    ),
  )
}
