import { awaitedCalls } from './history.ts'
import type { Message, Part, ToolResultPart } from './message.ts'
import { providerResult } from './provider-result.ts'

/** Keeps the last result for each call that awaits one, in this message or before it. Drops results that belong to no call. */
export function withKnownResults(message: Message, before: readonly Message[]): Message {
  const { content } = message
  if (typeof content === 'string' || !content.some(isResult)) return message
  const last = new Map(content.filter(isResult).map((part) => [part.callId, part]))
  const open = new Set(
    [...awaitedCalls([...before, { ...message, content: content.filter((part) => !isResult(part)) }]).values()]
      .flat()
      .map(({ callId }) => callId),
  )
  const known = (part: ToolResultPart) => (open.has(part.callId) && last.get(part.callId) === part ? [part] : [])
  return {
    ...message,
    content: content.flatMap((part): Part[] => (isResult(part) ? known(part).map(providerResult) : [part])),
  }
}

function isResult(part: Part): part is ToolResultPart {
  return part.type === 'tool-result'
}
