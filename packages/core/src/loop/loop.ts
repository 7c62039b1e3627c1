import { goesOn, type ModelResponse } from '../model/response.ts'
import type { Attempt } from '../onion/attempt.ts'
import { fail, succeed } from '../onion/next.ts'
import { Steering } from '../rings/turn/steering.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { Resume } from '../rings/turn/turn-options.ts'
import { decidedCalls } from './decided-calls.ts'
import { beginCall, callEnded, callFailed } from './model-step.ts'
import { storeStep } from './stored-turn.ts'
import { requestedCalls, toolStep } from './tool-step.ts'

/**
 * The loop, which is the core of a turn. A step is one model call and its tool calls. The turn continues while there
 * are tool calls or a message came in. Settles the core at the end.
 */
export async function loop(turn: Turn, core: Attempt): Promise<void> {
  const { outputSink } = turn.answer
  try {
    turn.answer.begin()
    turn.transcript.addInput()
    // A replay delivers the recorded messages again.
    if (turn.journal.known !== undefined) turn.steering ??= new Steering(turn)
    if (turn.options.resume !== undefined) await resumeStep(turn, turn.options.resume)
    let paused = false
    for (; turn.stopReason === undefined && !turn.isSuspended; turn.stepIndex++) {
      if (turn.stepIndex >= turn.maxSteps) {
        turn.stopReason = 'max_steps'
        break
      }
      if (!paused && turn.steering !== undefined) {
        await turn.lifecycle.until(turn.steering.checkInbox(turn.stepIndex))
        if (turn.stopReason !== undefined) break
        turn.steering.hear()
      }
      if (turn.session.keepers !== undefined) await turn.lifecycle.until(storeStep(turn))
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
        if (outputSink.assembly !== undefined && (followed || goesOn(response)))
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
      outputSink.endStep()
      paused = response.paused === true
      if (calls.length === 0 && !paused && !followed) break
      if (turn.suspendedCalls !== undefined) turn.isSuspended = true
    }
    turn.answer.complete()
  } catch (error) {
    fail(core, error)
    return turn.steering?.close()
  }
  succeed(core, undefined)
  turn.steering?.close()
}

/** Runs the rest of a suspended step: the calls that have a decision. Undecided calls stay pending. */
async function resumeStep(turn: Turn, resume: Resume): Promise<void> {
  if (turn.session.keepers !== undefined) await turn.lifecycle.until(storeStep(turn))
  turn.emitStep('step:start')
  await toolStep(turn, decidedCalls(turn, resume))
  throwIfOver(turn)
  turn.answer.outputSink.endStep()
  turn.isSuspended = turn.session.history.pending().length > 0
  turn.stepIndex++
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
