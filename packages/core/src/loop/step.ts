import { goesOn, type ModelResponse } from '../model/response.ts'
import type { Steering } from '../rings/turn/steering.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { Resume } from '../rings/turn/turn-options.ts'
import { decidedCalls } from './decided-calls.ts'
import { beginCall, callEnded, callFailed } from './model-step.ts'
import { requestedCalls, toolStep } from './tool-step.ts'

/**
 * Runs one model call and its tool calls.
 *
 * @returns whether another step follows; `paused` if it continues the answer of this one
 */
export async function runStep(turn: Turn): Promise<'last' | 'paused' | 'followed'> {
  throwIfOver(turn)
  const instructing = turn.instruct()
  if (instructing !== undefined) await turn.lifecycle.until(instructing)
  turn.emitStep('step:start')
  const call = beginCall(turn)
  let response: ModelResponse
  let followed = false
  try {
    response = (await turn.lifecycle.run(call)) as ModelResponse
    throwIfOver(turn)
    if (turn.steering !== undefined && !goesOn(response))
      followed = await turn.lifecycle.until(follows(turn, turn.steering))
    if (turn.answer.outputSink.assembly !== undefined && (followed || goesOn(response)))
      response = await turn.lifecycle.until(turn.answer.flush(response))
  } catch (error) {
    callFailed(call, error)
    throw error
  }
  callEnded(call, response, followed)
  throwIfOver(turn)
  const calls = requestedCalls(response)
  if (calls.length > 0) await toolStep(turn, calls)
  throwIfOver(turn)
  turn.answer.outputSink.endStep()
  if (response.paused === true) return 'paused'
  return calls.length > 0 || followed ? 'followed' : 'last'
}

/** Runs the rest of a suspended step: the calls that have a decision. Undecided calls stay pending. */
export async function resumeStep(turn: Turn, resume: Resume): Promise<void> {
  throwIfOver(turn)
  turn.emitStep('step:start')
  await toolStep(turn, decidedCalls(turn, resume))
  throwIfOver(turn)
  turn.answer.outputSink.endStep()
  turn.isSuspended = turn.session.history.pending().length > 0
}

/** Whether a steered message requires another step after an answer without tool calls. */
async function follows(turn: Turn, steering: Steering): Promise<boolean> {
  if (turn.stopReason !== undefined || turn.stepIndex + 1 >= turn.maxSteps) return false
  const heard = await steering.checkInbox(turn.stepIndex + 1)
  return heard && turn.stopReason === undefined
}

function throwIfOver({ lifecycle }: Turn): void {
  if (lifecycle.isOver) throw lifecycle.reason
}
