import { type Ring, State } from '../onion/attempt.ts'
import { layerError } from '../onion/misuse.ts'
import { noResponse } from './answer.ts'
import { TurnAttempt } from './context.ts'
import { throughInputLayers } from './inputs.ts'
import { loop } from './loop.ts'
import { openStage } from './stream-verbs.ts'
import type { Turn } from './turn.ts'

/** The turn scope. It is entered once, its core is the loop, and its layers may set `ctx.output`. */
export const turnRing: Ring<TurnAttempt, Turn> = {
  scope: 'turn',
  reentrant: false,
  create(call, caller, number, cancel) {
    const attempt = new TurnAttempt(call, caller, number, cancel)
    if (caller === undefined) attempt.$sink = call.answer.outputSink
    return attempt
  },
  admit(caller) {
    const { $call: turn } = caller
    const steps = turn.inputs?.filter(({ layer }) => layer === caller)
    if (steps === undefined || steps.length === 0 || turn.view.input.length === 0) return undefined
    const passing = turn.lifecycle.until(throughInputLayers(turn.view.input, steps))
    return passing.then((input) => turn.view.setInput(input))
  },
  enter(caller, inner) {
    const { answer } = caller.$call
    inner.$sink = openStage(caller, caller.$sink ?? answer.outputSink, false)
    if (inner.$sink !== answer.outputSink) answer.outputSink.track()
    if (caller.$transforms?.hold === true) answer.outputSink.hold(caller.$index)
  },
  run(attempt) {
    const { $call: turn } = attempt
    turn.lifecycle.core = attempt
    void loop(turn, attempt)
  },
  toResult(attempt) {
    const { answer } = attempt.$call
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
  deliver({ $stage, $call: { answer } }, _, value) {
    return $stage === undefined ? value : answer.endStage($stage)
  },
  rollback(attempt) {
    const { answer, callIndex } = attempt.$call
    if (attempt.$transforms?.hold === true) answer.dropHold(attempt)
    if (callIndex === 0 && attempt.$caller?.$stage?.used === false) attempt.$caller.$stage.kill(noResponse)
  },
  cancel({ $call: turn }, reason) {
    turn.lifecycle.abandonLoop(reason)
  },
}
