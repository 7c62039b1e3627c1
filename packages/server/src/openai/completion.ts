import type { FinishReason, PendingCall, Usage } from '@allium/core'
import { errorBody } from '../http/error-formats.ts'
import type { Problem } from '../http/problem.ts'
import type { Frame } from '../http/sse.ts'
import type { FrameWriter } from '../response/stream.ts'
import type { Answer } from '../run/run-handle.ts'
import { needsApproval, type WireCall } from './client-tool-calls.ts'

/** The fields that all chunks of an answer share. */
export interface CompletionMeta {
  readonly id: string
  readonly model: string
  /** Seconds since the epoch. */
  readonly created: number
}

/** Returns a run as a chat completion: https://platform.openai.com/docs/api-reference/chat/object */
export function completion({ id, model, created }: CompletionMeta, result: Answer, calls: readonly WireCall[]): object {
  const text = { role: 'assistant', content: result.text, refusal: null }
  const message = calls.length === 0 ? text : { ...text, tool_calls: calls }
  const reason = calls.length === 0 ? finishOf(result.status, result.finishReason) : 'tool_calls'
  const choice = { index: 0, message, logprobs: null, finish_reason: reason }
  return { id, object: 'chat.completion', created, model, choices: [choice], usage: usageOf(result.usage) }
}

interface CompletionOptions {
  readonly includeUsage: boolean
  /** Returns the pending calls that the client must run. */
  clientCallsIn(pending: readonly PendingCall[]): Promise<WireCall[]>
}

/** Writes a run as chunks of a chat completion: the texts of all steps in order. */
export function completionFrames(
  { id, model, created }: CompletionMeta,
  { includeUsage, clientCallsIn }: CompletionOptions,
): FrameWriter {
  const chunk = (choices: object[], fields: object = {}): Frame => ({
    data: JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices, ...fields }),
  })
  const choice = (delta: object, reason: string | null = null) => [
    { index: 0, delta, logprobs: null, finish_reason: reason },
  ]
  let finish: FinishReason | undefined
  let calls: object[] = []
  let waits = false
  let done = false
  function* fail(problem: Problem): Generator<Frame> {
    done = true
    yield { data: JSON.stringify(errorBody(problem)) }
  }
  return {
    begin: () => [chunk(choice({ role: 'assistant', content: '' }))],
    async prepare(pending) {
      waits = needsApproval(pending)
      calls = (await clientCallsIn(pending)).map((call, index) => ({ index, ...call }))
    },
    *write({ event }) {
      if ('path' in event && event.path !== undefined) return
      if (event.type === 'text-delta') yield chunk(choice({ content: event.delta }))
      else if (event.type === 'finish') finish = (event as { reason: FinishReason }).reason
      else if (event.type === 'model:reset') yield* fail(resetError)
      else if (event.type === 'run:error') yield* fail(event as never)
      else if (event.type === 'turn:end') {
        const { status, usage } = event as { status: string; usage: Usage }
        if (status === 'failed') return
        if (status === 'aborted') return yield* fail(cutOff)
        if (waits) return yield* fail(approvalPending)
        if (calls.length > 0) yield chunk(choice({ tool_calls: calls }))
        yield chunk(choice({}, calls.length > 0 ? 'tool_calls' : finishOf(status, finish)))
        if (includeUsage) yield chunk([], { usage: usageOf(usage) })
      }
    },
    end: () => (done ? [] : [{ data: '[DONE]' }]),
    isDone: () => done,
  }
}

/** An answer that was cut off, which `finish_reason` cannot express. */
export const cutOff: Problem = {
  status: 409,
  code: 'run.interrupted',
  message: 'The answer was cut off, because its run was stopped. Send the request again.',
}

/** An answer that waits for a person, which `finish_reason` cannot express. */
export const approvalPending: Problem = {
  status: 409,
  code: 'approval.pending',
  message:
    'The answer waits for the approval of a call. Decide it with the routes of the session that `x-session-id` names. Without one, it cannot be decided.',
}

const resetError = { status: 502, code: 'stream.reset', message: 'The answer was restarted. Send the request again.' }

function finishOf(status: string, reason: FinishReason | undefined): string {
  if (status === 'blocked' || reason === 'content-filter') return 'content_filter'
  return reason === 'length' ? 'length' : 'stop'
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 }: Usage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}
