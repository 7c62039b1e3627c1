import type { Message } from '@allium/core'

/** Groups messages that belong together: an answer with the results of its tool calls; every other message alone. */
export function messageUnits(messages: readonly Message[]): Message[][] {
  const units: Message[][] = []
  for (const message of messages) {
    const last = units.at(-1)
    if (message.role === 'tool' && last !== undefined) last.push(message)
    else units.push([message])
  }
  return units
}

/** Drops the messages before the first user message, because providers reject a conversation that begins with an answer. */
export function fromFirstUserMessage<M extends Readonly<Message>>(messages: M[]): M[] {
  return messages.slice(
    Math.max(
      0,
      messages.findIndex(({ role }) => role === 'user'),
    ),
  )
}
