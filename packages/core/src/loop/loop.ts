import { type ModelResponse, goesOn as turnGoesOn } from '../model/response.ts'
import type { Attempt } from '../onion/attempt.ts'
import { fail, succeed } from '../onion/next.ts'
import type { RequestedCall } from '../rings/tool/tool-call.ts'
import type { Steering } from '../rings/turn/steering.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { Resume } from '../rings/turn/turn-options.ts'
import { decidedCalls } from './decided-calls.ts'
import { beginCall, callEnded, callFailed } from './model-step.ts'
import { keepStep } from './stored-turn.ts'
import { requestedCalls, toolStep } from './tool-step.ts'

const none: readonly RequestedCall[] = []

/**
 * The loop, which is the core of a turn: a step is one model call and the tool calls that it asked for; a turn goes on while
 * there are any, or a message has come in. Its end is the core's.
 */
export async function loop(turn: Turn, core: Attempt): Promise<void> {
  try {
    turn.answer.begin()
    if (turn.options.resume !== undefined) await resumeStep(turn, turn.options.resume)
    let paused = false
    for (; turn.stopReason === undefined && !turn.waits; turn.stepIndex++) {
      if (turn.stepIndex >= turn.maxSteps) {
        turn.stopReason = 'max_steps'
        break
      }
      if (!paused && turn.heeds !== undefined) {
        await turn.life.until(turn.heeds.listen(turn.stepIndex))
        if (turn.stopReason !== undefined) break
        turn.heeds.hear()
      }
      if (turn.session.keepers !== undefined) await turn.life.until(keepStep(turn))
      const instructing = turn.instruct()
      if (instructing !== undefined) await turn.life.until(instructing)
      turn.tellStep('step:start')
      const call = beginCall(turn)
      let response: ModelResponse
      let followed = false
      try {
        response = (await turn.life.run(call)) as ModelResponse
        goesOn(turn)
        if (turn.heeds !== undefined && !turnGoesOn(response))
          followed = await turn.life.until(follows(turn, turn.heeds))
        if (turn.answer.flushes(response, followed)) response = await turn.life.until(turn.answer.flush(response))
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
      paused = response.paused === true
      if (calls.length === 0 && !paused && !followed) break
      if (turn.waiting !== undefined) turn.waits = true
    }
    turn.answer.complete()
  } catch (error) {
    fail(core, error)
    return turn.steering?.close()
  }
  succeed(core, undefined)
  turn.steering?.close()
}

/** The rest of a step that waited: the calls that a human has decided run, those that are undecided go on waiting. */
async function resumeStep(turn: Turn, resume: Resume): Promise<void> {
  if (turn.session.keepers !== undefined) await turn.life.until(keepStep(turn))
  turn.tellStep('step:start')
  await toolStep(turn, decidedCalls(turn, resume))
  goesOn(turn)
  turn.answer.stepEnd.end()
  turn.waits = turn.session.history.pending().length > 0
  turn.stepIndex++
}

/** Whether a message that came in asks for another step behind an answer that asked for none. */
async function follows(turn: Turn, steering: Steering): Promise<boolean> {
  if (turn.stopReason !== undefined || turn.stepIndex + 1 >= turn.maxSteps) return false
  const heard = await steering.listen(turn.stepIndex + 1)
  return heard && turn.stopReason === undefined
}

function goesOn({ life }: Turn): void {
  if (life.isOver) throw life.reason
}
