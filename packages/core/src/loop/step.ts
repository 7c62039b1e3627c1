import { type ModelResponse, goesOn as turnGoesOn } from '../model/response.ts'
import type { RequestedCall } from '../rings/tool/tool-call.ts'
import type { Steering } from '../rings/turn/steering.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { Resume } from '../rings/turn/turn-options.ts'
import { decidedCalls } from './decided-calls.ts'
import { beginCall, callEnded, callFailed } from './model-step.ts'
import { requestedCalls, toolStep } from './tool-step.ts'

const none: readonly RequestedCall[] = []

/**
 * Runs one model call and its tool calls.
 *
 * @returns whether another step follows; `paused` if it continues the answer of this one
 */
export async function runStep(turn: Turn): Promise<'last' | 'paused' | 'followed'> {
  goesOn(turn)
  const instructing = turn.instruct()
  if (instructing !== undefined) await turn.lifecycle.until(instructing)
  turn.emitStep('step:start')
  const call = beginCall(turn)
  let response: ModelResponse
  let followed = false
  try {
    response = (await turn.lifecycle.run(call)) as ModelResponse
    goesOn(turn)
    if (turn.pendingSteering !== undefined && !turnGoesOn(response))
      followed = await turn.lifecycle.until(follows(turn, turn.pendingSteering))
    if (turn.answer.flushes(response, followed)) response = await turn.lifecycle.until(turn.answer.flush(response))
  } catch (error) {
    callFailed(call, error)
    throw error
  }
  callEnded(call, response, followed)
  goesOn(turn)
  const calls = response.toolCalls.length === 0 ? none : requestedCalls(response)
  if (calls.length > 0) await toolStep(turn, calls)
  goesOn(turn)
  turn.answer.stepEnd.end()
  if (response.paused === true) return 'paused'
  return calls.length > 0 || followed ? 'followed' : 'last'
}

/** Runs the rest of a suspended step: the calls that have a decision. Undecided calls stay pending. */
export async function resumeStep(turn: Turn, resume: Resume): Promise<void> {
  goesOn(turn)
  turn.emitStep('step:start')
  await toolStep(turn, decidedCalls(turn, resume))
  goesOn(turn)
  turn.answer.stepEnd.end()
  turn.isSuspended = turn.session.history.pending().length > 0
}

/** Whether a steered message requires another step after an answer without tool calls. */
async function follows(turn: Turn, steering: Steering): Promise<boolean> {
  if (turn.stopReason !== undefined || turn.stepIndex + 1 >= turn.maxSteps) return false
  const heard = await steering.checkInbox(turn.stepIndex + 1)
  return heard && turn.stopReason === undefined
}

function goesOn({ lifecycle }: Turn): void {
  if (lifecycle.isOver) throw lifecycle.reason
}
