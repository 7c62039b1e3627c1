import type { Message, Part, ToolCallPart, ToolResultPart } from './message.ts'

/** Whether it has the result of a call that was approved or denied. */
export function isApproved({ content }: Message): boolean {
  return typeof content !== 'string' && content.some((part) => 'approval' in part && part.approval !== undefined)
}

/** Returns a message as sent to models, without approval records. */
export function withoutApprovals(message: Message): Message {
  if (!isApproved(message)) return message
  const content = (message.content as Part[]).map((part) => {
    if (part.type !== 'tool-result' || part.approval === undefined) return part
    const { approval: _, ...rest } = part
    return rest
  })
  return { ...message, content }
}

/** Returns all tool calls of the last assistant message that the agent's own tools answer. */
export function lastCalls(messages: readonly Message[]): ToolCallPart[] {
  const content = messages.findLast(({ role }) => role === 'assistant')?.content
  if (content === undefined || typeof content === 'string') return []
  return content.filter((part): part is ToolCallPart => isCall(part) && part.providerExecuted !== true)
}

/** Returns the calls that the provider ran and that have no result yet, by the index of their message. */
export function awaitedCalls(messages: readonly Message[]): Map<number, ToolCallPart[]> {
  const answered = new Set<string>()
  const awaited = new Map<number, ToolCallPart[]>()
  for (let at = messages.length - 1; at >= 0; at--) {
    const { content } = messages[at] as Message
    if (typeof content === 'string') continue
    for (const part of content) if (part.type === 'tool-result') answered.add(part.callId)
    const open = content.filter(
      (part): part is ToolCallPart => isCall(part) && part.providerExecuted === true && !answered.has(part.callId),
    )
    if (open.length > 0) awaited.set(at, open)
  }
  return awaited
}

/** Returns the pending calls of the last assistant message that the agent's own tools answer. Later messages do not matter. */
export function pendingParts(messages: readonly Message[]): ToolCallPart[] {
  let answered: Set<string> | undefined
  for (let i = messages.length - 1; i >= 0; i--) {
    const { role, content } = messages[i] as Message
    if (typeof content === 'string') {
      if (role === 'assistant') return []
      continue
    }
    for (const part of content) if (part.type === 'tool-result') (answered ??= new Set()).add(part.callId)
    if (role === 'assistant')
      return content.filter(
        (part): part is ToolCallPart =>
          isCall(part) && part.providerExecuted !== true && answered?.has(part.callId) !== true,
      )
  }
  return []
}

/**
 * Inserts results after the calls that they answer, in the order of the calls. All results of one answer go into one message.
 * Returns the index of that message.
 */
export function answerCalls(messages: Message[], results: readonly ToolResultPart[]): number | undefined {
  if (results.length === 0) return undefined
  const answerIndex = messages.findLastIndex(({ role }) => role === 'assistant')
  const next = messages[answerIndex + 1]
  if (answerIndex < 0 || next?.role !== 'tool' || typeof next.content === 'string') {
    const at = answerIndex < 0 ? messages.length : answerIndex + 1
    messages.splice(at, 0, { role: 'tool', content: [...results] })
    return at
  }
  const calls = (messages[answerIndex] as Message).content as Part[]
  const positions = new Map(calls.filter(isCall).map(({ callId }, i) => [callId, i]))
  const content = [...next.content, ...results] as ToolResultPart[]
  content.sort((a, b) => (positions.get(a.callId) ?? 0) - (positions.get(b.callId) ?? 0))
  messages[answerIndex + 1] = { ...next, content }
  return answerIndex + 1
}

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

export function missingResult({ callId, name }: ToolCallPart): ToolResultPart {
  return { type: 'tool-result', callId, name, content: 'The provider sent no result.', isError: true, missing: true }
}

function isCall(part: Part): part is ToolCallPart {
  return part.type === 'tool-call'
}

function isResult(part: Part): part is ToolResultPart {
  return part.type === 'tool-result'
}
