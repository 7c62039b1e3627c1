// The parts of which the recorded streams are made. The ids, the text `Half` and the call `now({"a":"b"})` are the same in all.

export type Part = Record<string, unknown>

export const text: Part[] = [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: 'Half' },
  { type: 'text-end', id: '0' },
]
export const start: Part = { type: 'tool-input-start', id: 'call_1', toolName: 'now' }
export const end: Part = { type: 'tool-input-end', id: 'call_1' }
export const delta = (json: string): Part => ({ type: 'tool-input-delta', id: 'call_1', delta: json })
export const call = (input: string): Part => ({ type: 'tool-call', toolCallId: 'call_1', toolName: 'now', input })
export const raw = (rawValue: unknown): Part => ({ type: 'raw', rawValue })

const counts = (input?: number, output?: number) => ({ inputTokens: { total: input }, outputTokens: { total: output } })
/** The usage of a whole answer, of a package that begins with zeros, and of one that begins with nothing. */
export const counted = counts(20, 7)
export const zero = counts(0, 0)
export const none = counts()

export const finish = (unified: string, reason?: unknown, usage: object = none): Part => ({
  type: 'finish',
  finishReason: { unified, raw: reason },
  usage,
})
export const finishV2 = (finishReason: string, tokens?: number): Part => ({
  type: 'finish',
  finishReason,
  usage: { inputTokens: tokens, outputTokens: tokens, totalTokens: tokens },
})

/** An error of the AI SDK, which has its name and its own fields. */
export function sdkError(name: string, message: string, fields: object = {}): Error {
  return Object.assign(new Error(message), { name, ...fields })
}

/** An event that fits no schema of its package. */
export function validationError(value: unknown): Error {
  return sdkError('AI_TypeValidationError', `Type validation failed: Value: ${JSON.stringify(value)}.`, {
    value,
    cause: new Error('Invalid input'),
  })
}

/** A chunk of a chat completion. */
export function chat(finish_reason: string | null, more: object = {}): object {
  return { id: 'c1', choices: [{ index: 0, delta: {}, finish_reason }], ...more }
}
