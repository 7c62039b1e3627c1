import type { TurnView } from '../contexts/turn.ts'
import { type ModelResponse, needsNextCall } from '../model/response.ts'
import { around, type Layer } from '../onion/compose.ts'
import type { WrappedStep } from '../ports/around.ts'
import type { StoredTurn } from '../ports/session-store.ts'
import { beginCall, callEnded, callFailed } from './model-call.ts'
import type { Steering } from './steering.ts'
import { storedTurn, unchangedMessages } from './stored-turn.ts'
import { requestedCalls } from './tool-call.ts'
import { ToolStep } from './tool-step.ts'
import type { Turn } from './turn.ts'
import type { Resume } from './turn-options.ts'

/**
 * Runs one model call and its tool calls.
 *
 * @returns whether another step follows; `paused` if it continues the answer of this one
 */
export async function runStep(turn: Turn, ctx: TurnView): Promise<'last' | 'paused' | 'followed'> {
  turn.lifecycle.throwIfOver()
  const instructing = turn.instruct(ctx)
  if (instructing !== undefined) await turn.lifecycle.until(instructing)
  const { sessionId, turnId, stepIndex } = turn.location
  turn.send({ type: 'step:start', sessionId, turnId, stepIndex })
  const call = beginCall(turn)
  let response: ModelResponse
  let followed = false
  try {
    response = (await turn.lifecycle.run(call)) as ModelResponse
    turn.lifecycle.throwIfOver()
    if (turn.inbox !== undefined) await turn.lifecycle.until(turn.loadSteering())
    if (turn.steering !== undefined && !needsNextCall(response))
      followed = await turn.lifecycle.until(follows(turn, turn.steering))
    if (turn.answer.outputSink.assembly !== undefined && (followed || needsNextCall(response)))
      response = await turn.lifecycle.until(turn.answer.flush(response))
  } catch (error) {
    callFailed(call, error)
    throw error
  }
  callEnded(call, response, followed)
  turn.lifecycle.throwIfOver()
  const calls = requestedCalls(response)
  if (calls.length > 0) {
    await new ToolStep(turn, calls).run()
    turn.lifecycle.throwIfOver()
  }
  turn.answer.outputSink.endStep()
  if (response.paused === true) return 'paused'
  return calls.length > 0 || followed ? 'followed' : 'last'
}

/** Runs the rest of a suspended step: the calls that have a decision. Undecided calls stay pending. */
export async function resumeStep(turn: Turn, resume: Resume): Promise<void> {
  turn.lifecycle.throwIfOver()
  const { decidedCalls } = await turn.lifecycle.until(import('../later.ts'))
  turn.send({ type: 'step:start', ...turn.location })
  await new ToolStep(turn, decidedCalls(turn, resume)).run()
  turn.lifecycle.throwIfOver()
  turn.answer.outputSink.endStep()
  turn.isSuspended = turn.session.history.pending().length > 0
}

/** Whether a steered message requires another step after an answer without tool calls. */
async function follows(turn: Turn, steering: Steering): Promise<boolean> {
  if (turn.stopReason !== undefined || turn.stepIndex + 1 >= turn.maxSteps) return false
  const hasMessages = await steering.checkInbox(turn.stepIndex + 1)
  return hasMessages && turn.stopReason === undefined
}

/** Runs a step of the turn inside the session's wrappers. When it settles, the step has ended or never begins. */
export function aroundStep<T>(turn: Turn, resumed: boolean, step: () => Promise<T>): Promise<T> {
  const { lifecycle, session, stepIndex: index } = turn
  const wrappers = session.registered.aroundStep
  if (wrappers === undefined) return step()
  const wrapped = Object.assign(new TurnNow(turn, unchangedMessages(session)), { index, resumed })
  let running: Promise<T> | undefined
  const core = () => (running = step())
  // A step that runs ends by itself when the turn does, after its calls have unwound.
  const until = (work: Promise<unknown>) =>
    lifecycle.until(work).catch((reason) => (running === undefined ? Promise.reject(reason) : work))
  return around(wrappers as readonly Layer<WrappedStep, unknown>[], wrapped, core, { until }) as Promise<T>
}

/** Not the getter of a literal: that stays in memory until a full collection, with the whole turn. */
class TurnNow {
  readonly #turn: Turn

  constructor(
    turn: Turn,
    readonly unchanged: number,
  ) {
    this.#turn = turn
  }

  get turn(): StoredTurn {
    return storedTurn(this.#turn, 'running', this.unchanged)
  }
}
