import { type Message, type ModelContext, type TurnView, textOf } from '@allium/core'

/** Returns the text of a call's first message if it is the instructions, and not a message of the conversation. */
export function instructionsOf(ctx: ModelContext, turn: TurnView): string | undefined {
  const [first] = ctx.request.messages
  if (first?.role !== 'system') return undefined
  const text = textOf(first)
  return text !== ctx.agent.instructions && startsWithText(turn.messages, text) ? undefined : text
}

/** The messages of a call without the instructions. */
export function conversationOf(ctx: ModelContext, turn: TurnView): readonly Readonly<Message>[] {
  const { messages } = ctx.request
  return instructionsOf(ctx, turn) === undefined ? messages : messages.slice(1)
}

export function withInstructions(text: string | undefined, conversation: readonly Readonly<Message>[]): Message[] {
  return text === undefined || text === '' ? [...conversation] : [{ role: 'system', content: text }, ...conversation]
}

function startsWithText([first]: readonly Message[], text: string): boolean {
  return first?.role === 'system' && textOf(first) === text
}
