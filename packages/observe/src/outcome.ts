import type { TracedScope } from './onion-turn.ts'

/** What a call gave, as far as spans compare and tell it. */
export interface Outcome {
  /** Its parts as texts, the same for equal ones. */
  said: Partial<Record<'text' | 'toolCalls' | 'result' | 'output', string>>
  /** What ended the call without the tool, and sticks: a denial with its reason, or that it waits for a human. */
  ended?: { decision: 'denied' | 'suspended'; why?: string }
}

/** What a hook returned, or what next() gave it, as a text that is equal for equal answers. Never throws. */
export function outcomeOf(scope: TracedScope, ctx: { output?: unknown }, value: unknown): Outcome {
  try {
    if (scope === 'turn') return { said: { output: String(ctx.output) } }
    return scope === 'model' ? { said: answer(value) } : toolOutcome(value)
  } catch {
    return { said: {} }
  }
}

function answer(value: unknown): Outcome['said'] {
  if (typeof value === 'string') return { text: value, toolCalls: json([]) }
  const { text = '', toolCalls = [] } = (value ?? {}) as { text?: string; toolCalls?: Record<string, unknown>[] }
  return { text, toolCalls: json(toolCalls.map(({ callId, name, args }) => [callId, name, args])) }
}

function toolOutcome(value: unknown): Outcome {
  if (typeof value === 'string') return { said: { result: json([value, false]) } }
  const { content, isError, status } = (value ?? {}) as { content?: unknown; isError?: boolean; status?: string }
  const said = { result: json([content, isError === true]) }
  if (status === 'suspended') return { said, ended: { decision: 'suspended' } }
  if (status !== 'denied') return { said }
  return { said, ended: { decision: 'denied', ...(typeof content === 'string' && { why: content }) } }
}

/** JSON in which bytes are told by their number. */
function json(value: unknown): string {
  return JSON.stringify(value, (_, part) => (ArrayBuffer.isView(part) ? `${part.byteLength} bytes` : part))
}

/** The parts that are told otherwise. */
export function partsThatDiffer(a: Outcome, b: Outcome): (keyof Outcome['said'])[] {
  return (['text', 'toolCalls', 'result', 'output'] as const).filter((part) => a.said[part] !== b.said[part])
}
