import type { TurnScope } from '../scopes/turn-scope.ts'
import { modelStep } from './model-step.ts'
import { toolStep } from './tool-step.ts'

/** The loop: a step is one model call and the tool calls that it asked for; a turn goes on while there are any. */
export async function loop(turn: TurnScope): Promise<void> {
  for (; turn.stopReason === undefined; turn.stepIndex++) {
    if (turn.stepIndex === turn.options.maxSteps) {
      turn.stopReason = 'max_steps'
      return
    }
    turn.send({ type: 'step:start', ...turn.place })
    const response = await modelStep(turn)
    goesOn(turn)
    if (response.toolCalls.length > 0) await toolStep(turn, response)
    goesOn(turn)
    turn.send({ type: 'step:end', ...turn.place })
    if (response.toolCalls.every(({ providerExecuted }) => providerExecuted === true)) return
  }
}

function goesOn({ end, cancel }: TurnScope): void {
  if (end !== undefined) throw end.error
  if (cancel.aborted) throw cancel.reason
}
