import type { TracedScope } from './onion-turn.ts'

/** What a call gave, as far as spans compare and tell it. */
export interface Outcome {
  /** Its parts as texts, the same for equal ones. */
  contents: Partial<Record<'text' | 'toolCalls' | 'result' | 'output', string>>
  /** What ended the call without the tool, and sticks: a denial with its reason, or that it waits for a human. */
  ended?: { decision: 'denied' | 'suspended'; why?: string }
}

/** What a hook returned, or what next() gave it, as a text that is equal for equal answers. Never throws. */
export function outcomeOf(scope: TracedScope, ctx: { output?: unknown }, value: unknown): Outcome {
  try {
    if (scope === 'turn') return { contents: { output: String(ctx.output) } }
    return scope === 'model' ? { contents: answer(value) } : toolOutcome(value)
  } catch {
    return { contents: {} }
  }
}

function answer(value: unknown): Outcome['contents'] {
  if (typeof value === 'string') return { text: value, toolCalls: json([]) }
  const { text = '', toolCalls = [] } = (value ?? {}) as { text?: string; toolCalls?: Record<string, unknown>[] }
  return { text, toolCalls: json(toolCalls.map(({ callId, name, args }) => [callId, name, args])) }
}

function toolOutcome(value: unknown): Outcome {
  if (typeof value === 'string') return { contents: { result: json([value, false]) } }
  const { content, isError, status } = (value ?? {}) as { content?: unknown; isError?: boolean; status?: string }
  const contents = { result: json([content, isError === true]) }
  if (status === 'suspended') return { contents, ended: { decision: 'suspended' } }
  if (status !== 'denied') return { contents }
  return { contents, ended: { decision: 'denied', ...(typeof content === 'string' && { why: content }) } }
}

/** JSON in which bytes are told by their number. */
function json(value: unknown): string {
  return JSON.stringify(value, (_, part) => (ArrayBuffer.isView(part) ? `${part.byteLength} bytes` : part))
}

/** The parts that are told otherwise. */
export function differingParts(a: Outcome, b: Outcome): (keyof Outcome['contents'])[] {
  return (['text', 'toolCalls', 'result', 'output'] as const).filter((part) => a.contents[part] !== b.contents[part])
}
