import type { ModelEnd } from '../events/events.ts'
import { equalJson } from '../messages/json.ts'
import type { ModelWarning } from '../model/chunk.ts'
import { copyDetails, finishOf, type ModelResponse, needsNextCall } from '../model/response.ts'
import { ModelCall } from './model-call.ts'
import type { Turn } from './turn.ts'

/** Starts a model call and a new answer in the stream. */
export function beginCall(turn: Turn): ModelCall {
  turn.answer.beginAnswer()
  const call = new ModelCall(turn)
  const { observers } = turn.session.agent
  if (observers.events.has('model:start')) {
    const { model, callIndex } = call
    observers.emit('model:start', { type: 'model:start', ...turn.location, model, callIndex })
  }
  return call
}

/**
 * Emits the events of a model call and adds its answer to the history. `followed`: a message came in, so another step
 * follows.
 */
export function callEnded(call: ModelCall, response: ModelResponse, followed: boolean): void {
  const { turn } = call
  const { model, warnings } = response
  if (warnings !== undefined) warn(turn, model, warnings)
  const isFollowed = followed || needsNextCall(response)
  turn.answer.outputSink.finish(finishOf(response), isFollowed)
  emitEnd(call, model, response)
  turn.answer.commit(response, isFollowed)
}

export function callFailed(call: ModelCall, error: unknown): void {
  emitEnd(call, call.model, undefined, error)
}

function emitEnd({ turn, callIndex }: ModelCall, model: string, response?: ModelResponse, error?: unknown): void {
  const { observers } = turn.session.agent
  if (!observers.events.has('model:end')) return
  const end: ModelEnd = { type: 'model:end', ...turn.location, model, callIndex }
  if (response === undefined) end.error = error
  else {
    end.finishReason = response.finishReason
    end.usage = { ...response.usage }
    copyDetails(end, response)
  }
  observers.emit('model:end', end)
}

function warn(turn: Turn, model: string, warnings: readonly ModelWarning[]): void {
  const known = turn.answer.warnings
  for (const warning of warnings) {
    turn.send({ type: 'model:warning', ...turn.location, model, warning: { ...warning } })
    if (!known.some((one) => equalJson(one, warning))) known.push(warning)
  }
}
