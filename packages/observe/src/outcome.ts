import type { TracedScope } from './onion-turn.ts'
import { plainJson } from './plain-data.ts'

/** The outcome of a call, as far as spans compare and record it. */
export interface Outcome {
  /** Its parts as texts; equal parts have equal texts. */
  contents: Partial<Record<'text' | 'toolCalls' | 'result' | 'output', string>>
  /** Why the call ended without the tool: it was denied with a reason, or it waits for a human. Outer layers cannot undo this. */
  ended?: { decision: 'denied' | 'suspended'; why?: string }
}

/** Returns the result of a hook or of next() as texts that are equal for equal results. Never throws. */
export function outcomeOf(scope: TracedScope, ctx: { output?: unknown }, value: unknown): Outcome {
  try {
    if (scope === 'turn') return { contents: { output: String(ctx.output) } }
    return scope === 'model' ? { contents: answer(value) } : toolOutcome(value)
  } catch {
    return { contents: {} }
  }
}

function answer(value: unknown): Outcome['contents'] {
  if (typeof value === 'string') return { text: value, toolCalls: plainJson([]) }
  const { text = '', toolCalls = [] } = (value ?? {}) as { text?: string; toolCalls?: Record<string, unknown>[] }
  return { text, toolCalls: plainJson(toolCalls.map(({ callId, name, args }) => [callId, name, args])) }
}

function toolOutcome(value: unknown): Outcome {
  if (typeof value === 'string') return { contents: { result: plainJson([value, false]) } }
  const { content, isError, status } = (value ?? {}) as { content?: unknown; isError?: boolean; status?: string }
  const contents = { result: plainJson([content, isError === true]) }
  if (status === 'suspended') return { contents, ended: { decision: 'suspended' } }
  if (status !== 'denied') return { contents }
  return { contents, ended: { decision: 'denied', ...(typeof content === 'string' && { why: content }) } }
}

/** Returns the parts that differ. */
export function differingParts(a: Outcome, b: Outcome): (keyof Outcome['contents'])[] {
  return (['text', 'toolCalls', 'result', 'output'] as const).filter((part) => a.contents[part] !== b.contents[part])
}
