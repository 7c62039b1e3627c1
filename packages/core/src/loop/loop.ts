import type { ModelResponse } from '../model/response.ts'
import type { Attempt } from '../onion/attempt.ts'
import { fail, succeed } from '../onion/next.ts'
import type { AskedCall } from '../rings/tool/tool-call.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { Resume } from '../rings/turn/turn-options.ts'
import { decidedCalls } from './decided-calls.ts'
import { beginCall, callEnded, callFailed } from './model-step.ts'
import { keepStep } from './stored-turn.ts'
import { askedCalls, toolStep } from './tool-step.ts'

const none: readonly AskedCall[] = []

/**
 * The loop, which is the core of a turn: a step is one model call and the tool calls that it asked for; a turn goes on while
 * there are any. Its end is the core's.
 */
export async function loop(turn: Turn, core: Attempt): Promise<void> {
  try {
    turn.answer.begin()
    if (turn.options.resume !== undefined) await resumeStep(turn, turn.options.resume)
    for (; turn.stopReason === undefined && !turn.waits; turn.stepIndex++) {
      if (turn.stepIndex >= turn.maxSteps) {
        turn.stopReason = 'max_steps'
        break
      }
      if (turn.session.keepers !== undefined) await turn.life.until(keepStep(turn))
      turn.tellStep('step:start')
      const call = beginCall(turn)
      let response: ModelResponse
      try {
        response = (await turn.life.run(call)) as ModelResponse
        goesOn(turn)
        if (turn.answer.flushes(response)) response = await turn.life.until(turn.answer.flush(response))
      } catch (error) {
        callFailed(call, error)
        throw error
      }
      callEnded(call, response)
      goesOn(turn)
      const asked = response.toolCalls.length === 0 ? none : askedCalls(response)
      if (asked.length > 0) await toolStep(turn, asked)
      goesOn(turn)
      turn.answer.stepEnd.end()
      if (asked.length === 0 && response.paused !== true) break
      if (turn.waiting !== undefined) turn.waits = true
    }
    turn.answer.complete()
  } catch (error) {
    return fail(core, error)
  }
  succeed(core, undefined)
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

function goesOn({ life }: Turn): void {
  if (life.isOver) throw life.reason
}
