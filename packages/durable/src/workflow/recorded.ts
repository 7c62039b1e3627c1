import type { Message, Part, ToolCallPart, ToolResultPart } from '@allium/core'

/** Commands that ran at the same time: one step of the turn. */
export interface Batch {
  readonly calls: readonly ToolCallPart[]
  readonly results: ReadonlyMap<string, ToolResultPart>
}

/** Returns the batches of the current turn, in the order in which they ran. The last one may lack results. */
export function recordedBatches(history: readonly Readonly<Message>[]): Batch[] {
  const batches: { calls: ToolCallPart[]; results: Map<string, ToolResultPart> }[] = []
  for (const message of ofLastTurn(history)) {
    const parts = partsOf(message)
    const calls = parts.filter((part) => part.type === 'tool-call')
    if (calls.length > 0) batches.push({ calls, results: new Map() })
    for (const part of parts) if (part.type === 'tool-result') batches.at(-1)?.results.set(part.callId, part)
  }
  return batches
}

export function isComplete({ calls, results }: Batch): boolean {
  return calls.every(({ callId }) => results.has(callId))
}

/** A message that was steered into a turn does not begin one. */
function ofLastTurn(history: readonly Readonly<Message>[]): readonly Readonly<Message>[] {
  const start = history.findLastIndex((message) => message.role === 'user' && !('steer' in message))
  return history.slice(start + 1)
}

function partsOf({ content }: Readonly<Message>): readonly Part[] {
  return typeof content === 'string' ? [] : content
}
