import type { ModelWarning } from '../model/chunk.ts'
import { modelId } from '../model/model.ts'
import { finishOf, goesOn, type ModelResponse } from '../model/response.ts'
import { ModelCall } from '../rings/model/model-call.ts'
import { modelRing } from '../rings/model/ring.ts'
import type { Turn } from '../rings/turn/turn.ts'
import { addWarning } from './answer-details.ts'

/** Starts a model call and a new answer in the stream. */
export function beginCall(turn: Turn): ModelCall {
  turn.answer.beginAnswer()
  const call = new ModelCall(turn, modelRing)
  const { session, turnId, stepIndex } = turn
  const { observers } = session.agent
  if (observers.has('model:start')) {
    const model = modelId(turn.options.model)
    const { callIndex } = call
    observers.emit('model:start', { type: 'model:start', sessionId: session.id, turnId, stepIndex, model, callIndex })
  }
  return call
}

/**
 * Emits the events of a model call and adds its answer to the history. `followed`: a message came in, so another step
 * follows.
 */
export function callEnded(call: ModelCall, response: ModelResponse, followed: boolean): void {
  const { turn, callIndex } = call
  const { answer } = turn
  const { observers } = turn.session.agent
  const { model, warnings } = response
  const finish = finishOf(response)
  if (warnings !== undefined) warn(turn, model, warnings)
  const goes = followed || goesOn(response)
  answer.outputSink.finish(finish, goes || !answer.isTransformed)
  if (observers.has('model:end')) {
    const { type: _, reason: finishReason, ...details } = finish
    observers.emit('model:end', {
      type: 'model:end',
      ...turn.location,
      model,
      callIndex,
      finishReason,
      ...details,
      usage: { ...response.usage },
    })
  }
  answer.commit(response, goes)
}

function warn(turn: Turn, model: string, warnings: readonly ModelWarning[]): void {
  for (const warning of warnings) {
    turn.send({ type: 'model:warning', ...turn.location, model, warning: { ...warning } })
    addWarning(turn.answer, warning)
  }
}

export function callFailed({ turn, callIndex, model }: ModelCall, error: unknown): void {
  const { observers } = turn.session.agent
  if (observers.has('model:end'))
    observers.emit('model:end', {
      type: 'model:end',
      ...turn.location,
      model,
      callIndex,
      error,
    })
}
