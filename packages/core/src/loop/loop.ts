import { pass } from '../compose/frame.ts'
import type { ModelResponse } from '../model/response.ts'
import type { TurnScope } from '../scopes/turn-scope.ts'
import { beginCall, callEnded, callFailed } from './model-step.ts'
import { toolStep } from './tool-step.ts'

/** The loop: a step is one model call and the tool calls that it asked for; a turn goes on while there are any. */
export async function loop(turn: TurnScope): Promise<void> {
  turn.answer.begin()
  for (; turn.stopReason === undefined; turn.stepIndex++) {
    if (turn.stepIndex === turn.options.maxSteps) {
      turn.stopReason = 'max_steps'
      break
    }
    turn.tellStep('step:start')
    const call = beginCall(turn)
    let response: ModelResponse
    try {
      response = (await pass(call)) as ModelResponse
      if (turn.answer.flushes(response)) response = await turn.answer.flush(response)
    } catch (error) {
      callFailed(call, error)
      throw error
    }
    callEnded(call, response)
    goesOn(turn)
    const { toolCalls } = response
    if (toolCalls.length > 0) await toolStep(turn, response)
    goesOn(turn)
    turn.answer.endStep()
    if (toolCalls.length === 0 || toolCalls.every(({ providerExecuted }) => providerExecuted === true)) break
  }
  turn.answer.complete()
}

function goesOn({ end, inside }: TurnScope): void {
  if (end !== undefined) throw end.error
  if (inside.aborted) throw inside.reason
}
