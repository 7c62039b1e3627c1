import { fail, succeed } from '../onion/outcome.ts'
import type { TurnAttempt } from './context.ts'
import { aroundStep, resumeStep, runStep } from './step.ts'
import type { Turn } from './turn.ts'

/**
 * The loop, which is the core of a turn. A step is one model call and its tool calls. The turn continues while there
 * are tool calls or a message came in. Settles the core at the end.
 */
export async function loop(turn: Turn, core: TurnAttempt): Promise<void> {
  try {
    turn.answer.begin()
    turn.transcript.addInput()
    // A replay delivers the recorded messages again.
    if (turn.journal.known !== undefined) await turn.lifecycle.until(turn.loadSteering())
    const { resume } = turn.options
    if (resume !== undefined) {
      await aroundStep(turn, true, () => resumeStep(turn, resume))
      turn.stepIndex++
    }
    let paused = false
    for (; turn.stopReason === undefined && !turn.isSuspended; turn.stepIndex++) {
      if (turn.stepIndex >= turn.maxSteps) {
        turn.stopReason = 'max_steps'
        break
      }
      if (turn.inbox !== undefined) await turn.lifecycle.until(turn.loadSteering())
      if (!paused && turn.steering !== undefined) {
        await turn.lifecycle.until(turn.steering.checkInbox(turn.stepIndex))
        if (turn.stopReason !== undefined) break
        turn.steering.deliver()
      }
      const outcome = await aroundStep(turn, false, () => runStep(turn, core))
      if (outcome === 'last') break
      paused = outcome === 'paused'
      if (turn.suspendedCalls !== undefined) turn.isSuspended = true
    }
    turn.answer.complete()
    succeed(core, undefined)
  } catch (error) {
    fail(core, error)
  }
  turn.steering?.close()
}
