import type { FinishReason, ModelChunk, ModelRequest, Usage } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'

export interface ScriptedToolCall {
  name: string
  /** An object, or a text that is sent unchanged, for arguments that are not JSON. @default {} */
  args?: Record<string, unknown> | string
  /** @default call-1, call-2, … over the whole script */
  callId?: string
}

/** One answer of a scripted model; its parts are sent in this order. */
export interface ScriptedAnswer {
  reasoning?: string
  /** Sent word by word, to test real streaming. */
  text?: string
  /** Sent unchanged; a text is one text-delta. */
  chunks?: readonly (string | ModelChunk)[]
  toolCalls?: readonly ScriptedToolCall[]
  /** Hangs until the request's signal aborts, then throws its reason. */
  stall?: boolean
  /** Thrown at the end. */
  error?: unknown
  /** Ends without a finish, like a truncated stream. */
  cut?: boolean
  /** @default { inputTokens: 10, outputTokens: 5 } */
  usage?: Partial<Usage>
  /** @default 'tool-calls' if there are any, else 'stop' */
  finishReason?: FinishReason
}

/** An answer, its text, or an error to throw. */
export type ScriptedReply = string | Error | ScriptedAnswer
/** The reply of a scripted model to one call; a function is called at that time. */
export type ScriptedStep =
  | ScriptedReply
  | ((request: ModelRequest, index: number) => ScriptedReply | Promise<ScriptedReply>)

const ofAnswer: KeysOf<ScriptedAnswer> = {
  reasoning: true,
  text: true,
  chunks: true,
  toolCalls: true,
  stall: true,
  error: true,
  cut: true,
  usage: true,
  finishReason: true,
}
const ofCall: KeysOf<ScriptedToolCall> = { name: true, args: true, callId: true }

/** @throws AlliumError `test.script` for an unknown key, which would be ignored */
export function checkReply(reply: ScriptedReply): void {
  if (typeof reply === 'string' || reply instanceof Error) return
  checkOptions(reply, ofAnswer, 'An answer of scriptedModel()', 'test.script', { content: 'It is called text.' })
  for (const call of reply.toolCalls ?? [])
    checkOptions(call, ofCall, 'A tool call of scriptedModel()', 'test.script', {
      'arguments input': 'They are called args.',
      toolName: 'It is called name.',
      'id toolCallId': 'It is called callId.',
    })
}

/** Sends one answer. `nextId` returns the id of a tool call without one. */
export async function* play(
  reply: ScriptedReply,
  request: ModelRequest,
  nextId: () => string,
): AsyncGenerator<ModelChunk> {
  checkReply(reply)
  const answer = toAnswer(reply)
  if (answer.reasoning !== undefined) yield { type: 'reasoning-delta', delta: answer.reasoning }
  for (const word of words(answer.text)) yield { type: 'text-delta', delta: word }
  for (const chunk of answer.chunks ?? [])
    yield typeof chunk === 'string' ? { type: 'text-delta', delta: chunk } : chunk
  for (const call of answer.toolCalls ?? []) yield* callChunks(call, nextId)
  if (answer.stall === true) await rejectOnAbort(request.signal)
  if ('error' in answer) throw answer.error
  if (answer.cut === true) return
  const { usage = { inputTokens: 10, outputTokens: 5 }, finishReason } = answer
  yield { type: 'finish', reason: finishReason ?? (answer.toolCalls?.length ? 'tool-calls' : 'stop'), usage }
}

function toAnswer(reply: ScriptedReply): ScriptedAnswer {
  if (typeof reply === 'string') return { text: reply }
  return reply instanceof Error ? { error: reply } : reply
}

function words(text = ''): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? []
}

function* callChunks({ name, args = {}, callId }: ScriptedToolCall, nextId: () => string): Generator<ModelChunk> {
  const id = callId ?? nextId()
  const json = typeof args === 'string' ? args : JSON.stringify(args)
  const half = Math.ceil(json.length / 2)
  yield { type: 'tool-input-start', callId: id, name }
  for (const delta of [json.slice(0, half), json.slice(half)])
    if (delta !== '') yield { type: 'tool-input-delta', callId: id, delta }
  yield { type: 'tool-input-end', callId: id }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
