import type { TracedScope } from './onion-turn.ts'

/** What a call gave, as far as spans compare and tell it. */
export interface Outcome {
  /** The same for equal answers. */
  said: string
  /** Why it was denied, if it was. */
  denied?: string
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
  return status === 'denied' ? { said, denied: typeof content === 'string' ? content : 'denied' } : { said }
}

/** JSON in which bytes are told by their number. */
function json(value: unknown): string {
  return JSON.stringify(value, (_, part) => (ArrayBuffer.isView(part) ? `${part.byteLength} bytes` : part))
}
