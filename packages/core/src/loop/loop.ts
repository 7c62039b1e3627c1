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
    const response = await modelStep(turn)
    goesOn(turn)
    const { toolCalls } = response
    if (toolCalls.length > 0) await toolStep(turn, response)
    goesOn(turn)
    turn.tellStep('step:end')
    if (toolCalls.every(({ providerExecuted }) => providerExecuted === true)) break
  }
  turn.answer.complete()
}

/** One call of the model through its onion; the answer enters the history as it left the outermost layer. */
async function modelStep(turn: TurnScope): Promise<ModelResponse> {
  const call = beginCall(turn)
  try {
    const answer = (await pass(call)) as ModelResponse
    const response = turn.answer.flushes(answer) ? await turn.answer.flush(answer) : answer
    callEnded(call, response)
    return response
  } catch (error) {
    callFailed(call, error)
    throw error
  }
}

function goesOn({ end, cancel }: TurnScope): void {
  if (end !== undefined) throw end.error
  if (cancel.aborted) throw cancel.reason
}
