import { AlliumError } from '../../errors/allium-error.ts'
import { after } from '../../errors/thenable.ts'
import { type Attempt, isOpen, type Ring, State } from '../../onion/attempt.ts'
import { layerError } from '../../onion/misuse.ts'
import type { Stage } from '../../stream/stage.ts'
import {
  continuation,
  hasSameContent,
  hasSameReasoning,
  type Streamed,
  streamedAs,
  streamedBy,
  wholeResponse,
  withReasoning,
} from '../../stream/streamed.ts'
import { copyLooked, looks, type ModelCall } from '../../turn/model-call.ts'
import { mismatch, openStage } from '../../turn/stream-verbs.ts'
import type { ContentChunk } from '../chunk.ts'
import { modelId } from '../model.ts'
import { type ModelResponse, toResponse } from '../response.ts'
import { ModelAttempt } from './context.ts'
import { callProvider } from './provider-call.ts'

/** The model scope. Its attempts hold the fields to send, its core is a provider call, and its layers return a response. */
export const modelRing: Ring<ModelAttempt, ModelCall> = {
  scope: 'model',
  reentrant: true,
  create: (call, caller, number, cancel) => new ModelAttempt(call, caller, number, cancel),
  shortCircuit: ({ $skip }) => $skip,
  mayRetry: refuseReset,
  enter(caller, inner) {
    const borrowed = (caller.$own | caller.$borrowed) & looks
    inner.$fields = borrowed === 0 ? caller.$fields : copyLooked(caller.$fields, borrowed)
    caller.$own &= looks
    const sink = caller.$sink as NonNullable<typeof caller.$sink>
    if (sink.used) sink.reset()
    caller.$given = undefined
    inner.$sink = openStage(caller, sink, true)
  },
  run: callProvider,
  toResult: resultOf,
  deliver(caller, inner, value) {
    const response = value as ModelResponse
    const { $stage: stage } = caller
    if (stage === undefined) return give(caller, response, inner.$streamed)
    return after(stage.end({ response }), () => {
      if (!stage.changed) return give(caller, response, inner.$streamed)
      const { assembly } = stage
      const { reasoning: _, ...rest } = response
      return give(caller, { ...rest, ...assembly.content() }, streamedBy(assembly))
    })
  },
  commit(caller, inner) {
    if (caller.$hook?.reenters === true) return
    caller.$fields = inner.$fields
    caller.$own = 0
    caller.$borrowed = (inner.$own | inner.$borrowed) & looks
  },
  cancel({ $work }, reason) {
    $work?.abandon(reason)
  },
}

function give(caller: ModelAttempt, response: ModelResponse, streamed: Streamed): ModelResponse {
  caller.$streamed = streamed
  caller.$given = response
  return response
}

/**
 * Converts a layer's return value to a response and makes the stream agree with it. The value may equal the streamed
 * content, extend it, or replace content that the layer held.
 */
function resultOf(attempt: ModelAttempt, value: unknown): unknown {
  const reached = hasReached(attempt)
  const { $streamed, $stage } = attempt
  if (reached && value === attempt.$given && $stage === undefined)
    if (hasSameContent($streamed, attempt.$given) && hasSameReasoning($streamed, attempt.$given)) return value
  const given = value === undefined ? attempt.$skip : value
  if (given === undefined) {
    const fix = 'Return what next() gave, or answer with "return ctx.skipCall(response)".'
    throw layerError(attempt, 'layer.no_result', `returned nothing. ${fix}`)
  }
  const response = withReasoning(
    toResponse(given, attempt.$name, modelId(attempt.$fields.model)),
    reached ? $streamed : undefined,
  )
  const stage = reached && $stage?.transforms.hold === true ? $stage : undefined
  if (reached && hasSameContent($streamed, response)) return unchanged(attempt, response, stage)
  return after(say(attempt, response, stage), () => {
    attempt.$streamed = streamedAs(response)
    return response
  })
}

/** Whether the last next() has succeeded. */
function hasReached(attempt: Attempt): attempt is ModelAttempt & { $given: ModelResponse } {
  return attempt.$inner?.$state === State.done
}

/** Handles a response with the streamed text and calls. Its reasoning may differ. */
function unchanged(attempt: ModelAttempt, response: ModelResponse, stage: Stage | undefined): unknown {
  const same = hasSameReasoning(attempt.$streamed, response)
  if (stage !== undefined) {
    if (!same) stage.replace(wholeResponse(response))
    if (!same) attempt.$streamed = streamedAs(response)
    return after(stage.release(), () => response)
  }
  if (same) return response
  if (response.reasoning !== undefined) throw mismatch(attempt, 'the reasoning')
  const { message, reasoning } = attempt.$given as ModelResponse
  return { ...response, message, ...(reasoning !== undefined && { reasoning }) }
}

/** Streams a layer's response to the outer layers. Throws if that would take back content that they have seen. */
function say(attempt: ModelAttempt, response: ModelResponse, stage: Stage | undefined): void | Promise<void> {
  if (stage !== undefined) {
    stage.replace(wholeResponse(response))
    return stage.release()
  }
  const { $sink, $streamed } = attempt
  const reached = hasReached(attempt)
  const rest = reached ? continuation($streamed, response) : undefined
  if (rest !== undefined) return push(attempt, rest)
  if (reached && $sink?.used === true && !$sink.open) throw mismatch(attempt, 'the response')
  if ($sink?.used === true) $sink.reset()
  return push(attempt, wholeResponse(response))
}

/** Sends chunks outward for a layer, while its attempt is open. */
function push(attempt: ModelAttempt, chunks: readonly ContentChunk[], from = 0): void | Promise<void> {
  for (let i = from; i < chunks.length && isOpen(attempt); i++) {
    const backpressure = attempt.$sink?.push(chunks[i] as ContentChunk)
    if (backpressure !== undefined) return backpressure.then(() => push(attempt, chunks, i + 1))
  }
}

/** Returns an error if the run refuses to take back chunks and the reader has seen some. */
function refuseReset({ $turn: turn, $inner }: ModelAttempt): AlliumError | undefined {
  if (turn.options.onRetryAfterOutput !== 'fail' || !turn.answer.isShown) return undefined
  const failed = $inner !== undefined && $inner.$state !== State.done
  return new AlliumError(
    'stream.reset',
    'The reader has received chunks of this model call, and { onRetryAfterOutput: "fail" } forbids a reset. Use ctx.hold(), or allow resets.',
    { ...(failed && { cause: $inner.$outcome }) },
  )
}
