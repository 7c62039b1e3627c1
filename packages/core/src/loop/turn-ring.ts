import { type Ring, State } from '../onion/attempt.ts'
import { layerError } from '../onion/misuse.ts'
import { noResponse } from '../rings/turn/answer.ts'
import { TurnAttempt } from '../rings/turn/context.ts'
import { throughInputLayers } from '../rings/turn/inputs.ts'
import { openStage } from '../rings/turn/stream-verbs.ts'
import type { Turn } from '../rings/turn/turn.ts'
import { loop } from './loop.ts'

/** The turn scope. It is entered once, its core is the loop, and its layers may set `ctx.output`. */
export const turnRing: Ring = {
  scope: 'turn',
  reentrant: false,
  create(call, caller, number, cancel) {
    const attempt = new TurnAttempt(call, caller, number, cancel)
    if (caller === undefined) attempt.$sink = (call as Turn).answer.outputSink
    return attempt
  },
  admit(caller) {
    const turn = caller.$call as Turn
    const steps = turn.inputs?.filter(({ layer }) => layer === caller)
    if (steps === undefined || steps.length === 0 || turn.view.input.length === 0) return undefined
    const passing = turn.lifecycle.until(throughInputLayers(turn.view.input, steps))
    return passing.then((input) => turn.view.setInput(input))
  },
  enter(caller, inner) {
    const { answer } = caller.$call as Turn
    inner.$sink = openStage(caller, caller.$sink ?? answer.outputSink, false)
    if (inner.$sink !== answer.outputSink) answer.outputSink.track()
    if (caller.$transforms?.hold === true) answer.outputSink.hold(caller.$index)
  },
  mayRetry: () => undefined,
  run(attempt) {
    const turn = attempt.$call as Turn
    turn.lifecycle.core = attempt as TurnAttempt
    void loop(turn, attempt)
  },
  rollback(attempt) {
    const { answer, callIndex } = attempt.$call as Turn
    if (attempt.$transforms?.hold === true) answer.dropHold(attempt)
    if (callIndex === 0 && attempt.$caller?.$stage?.used === false) attempt.$caller.$stage.kill(noResponse)
  },
  cancel({ $call }, reason) {
    const turn = $call as Turn
    turn.lifecycle.abandonLoop(reason)
  },
  shortCircuit: () => undefined,
  toResult(attempt) {
    const { answer } = attempt.$call as Turn
    const { $inner: inner } = attempt
    if (inner?.$state === State.done) return answer.release(attempt)
    if (answer.isPending) return answer.give(attempt)
    if (inner === undefined)
      throw layerError(
        attempt,
        'layer.no_next',
        'returned without next() and without an answer. Write "await next()", or set ctx.output.',
      )
    const what = 'swallowed the error of next() without an answer. Throw it again, or set ctx.output.'
    throw layerError(attempt, 'layer.no_result', what, inner.$outcome)
  },
  deliver(caller, _, value) {
    const { answer } = caller.$call as Turn
    return caller.$stage === undefined ? value : answer.endStage(caller.$stage)
  },
  commit() {},
}
