import { awaitedCalls } from './history.ts'
import type { Message, Part, ToolResultPart } from './message.ts'

/** Keeps the last result for each call that awaits one, in this message or before it. Drops results that belong to no call. */
export function withKnownResults(message: Message, before: readonly Message[]): Message {
  const { content } = message
  if (typeof content === 'string' || !content.some(isResult)) return message
  const last = new Map(content.filter(isResult).map((part) => [part.callId, part]))
  const calls = { ...message, content: content.filter((part) => !isResult(part)) }
  const awaited = [...awaitedCalls([...before, calls]).values()].flat()
  const isKnown = (part: ToolResultPart) =>
    last.get(part.callId) === part && awaited.some(({ callId }) => callId === part.callId)
  return {
    ...message,
    content: content.flatMap((part) => (!isResult(part) ? part : isKnown(part) ? providerResult(part) : [])),
  }
}

function isResult(part: Part): part is ToolResultPart {
  return part.type === 'tool-result'
}

/** Removes fields that only the core may set. So a model or a cached answer cannot approve a call or label its result as trusted. */
export function providerResult({
  approval: _approval,
  approved: _approved,
  approvalSeal: _seal,
  flow: _flow,
  missing: _missing,
  ...part
}: ToolResultPart): ToolResultPart {
  return part
}
