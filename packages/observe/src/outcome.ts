import type { TracedScope } from './onion-turn.ts'

/** What a call gave, as far as spans compare and tell it. */
export interface Outcome {
  /** The same for equal answers. */
  said: string
  /** What ended the call without the tool, and sticks: a denial with its reason, or that it waits for a human. */
  ended?: { decision: 'denied' | 'suspended'; why?: string }
}

/** What a hook returned, or what next() gave it, as a text that is equal for equal answers. Never throws. */
export function outcomeOf(scope: TracedScope, ctx: { output?: unknown }, value: unknown): Outcome {
  try {
    if (scope === 'turn') return { said: String(ctx.output) }
    return scope === 'model' ? { said: answer(value) } : toolOutcome(value)
  } catch {
    return { said: '' }
  }
}

function answer(value: unknown): string {
  if (typeof value === 'string') return json([value, []])
  const { text = '', toolCalls = [] } = (value ?? {}) as { text?: string; toolCalls?: Record<string, unknown>[] }
  return json([text, toolCalls.map(({ callId, name, args }) => [callId, name, args])])
}

function toolOutcome(value: unknown): Outcome {
  if (typeof value === 'string') return { said: json([value, false]) }
  const { content, isError, status } = (value ?? {}) as { content?: unknown; isError?: boolean; status?: string }
  const said = json([content, isError === true])
  if (status === 'suspended') return { said, ended: { decision: 'suspended' } }
  if (status !== 'denied') return { said }
  return { said, ended: { decision: 'denied', ...(typeof content === 'string' && { why: content }) } }
}

/** JSON in which bytes are told by their number. */
function json(value: unknown): string {
  return JSON.stringify(value, (_, part) => (ArrayBuffer.isView(part) ? `${part.byteLength} bytes` : part))
}
