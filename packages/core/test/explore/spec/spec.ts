import { type Case, grace, ticks } from '../case.ts'
import type { Outcome } from '../outcome.ts'
import { end, hangs, leftAt } from './ends.ts'
import { loop } from './loop.ts'
import { callOf, through } from './next.ts'
import { type Call, Fault, Run } from './run.ts'
import { closeHistory, outcomeOf } from './turn.ts'
import { type Cell, on, type Steps, VirtualTime } from './virtual-time.ts'

/*
 * The rules of design §4 to §6 as a program: what comes of a case. It is synchronous; a run is a tree of steps in virtual
 * time: calls, in them attempts, in them layers, down to the cores.
 *
 * Readings, where the text can be taken in two ways:
 *  1. A layer's signal is that of the place it stands in (rule 4): one left by a throw or return, where no signal fired,
 *     learns it from its own next(). Only the physical call is cut at once, and places that were narrowed for the attempt or in it.
 *  2. The stream is reset where the next attempt opens, so a second attempt that fails in silence leaves nothing shown.
 *  3. "How a run ends is decided when the outermost layer has returned": block, abort and stop between that and
 *     `turn:end`, while layers of left attempts are waited for, change nothing; state, `once` and events are taken.
 *  4. A next() that is refused (second, running, late, left, an aborted signal, `stream.reset`) opens nothing, and the
 *     layer may go on as if it had not been called.
 *     What it rejected with does not hide what the last attempt failed with.
 *  5. The error that "an error from a finally does not hide" is what the layer's last next() rejected with.
 *  6. What a pipe has taken and not given when the run ends is lost: a piece of that very instant may have come through,
 *     and so may what a layer still sends into one while it unwinds.
 *  7. At `gracePeriod` every next() around what hangs rejects; what those layers then do may or may not be before the end.
 *  8. A turn layer that answers by `ctx.output` after its next() failed adds nothing to what had been streamed: it begins anew.
 *  9. Where turn layers had not returned when a run failed or was aborted, the history has what the reader saw of the answer.
 * 10. With `onRetryAfterOutput: 'fail'` no other attempt takes back what was seen; a layer's own answer, and a block, do. Whether what
 *     a pipe passes on at that very instant was seen is open.
 * 11. A pipe of a turn layer makes nothing of a turn in which no model was asked and no layer answered.
 * 12. Where the run has ended, an outer layer may be out before an inner one has unwound: that is left, and what it says
 *     while it unwinds still counts, but for the answer, which is no longer its own. No deadline inside frees it. When exactly
 *     the turn ends is open then.
 * 13. Who shares the `once` of another goes on at the very instant at which that one does: their order is open. So is all,
 *     where they began it at one instant, or where one of them decides something there (leaves, ends, denies, changes).
 */
export function expected(plan: Case): { outcome: Outcome; open: ReadonlySet<keyof Outcome> } {
  const time = new VirtualTime()
  const run = new Run(plan, time)
  if (plan.abortAt !== undefined)
    time.at(ticks(plan.abortAt, 'abort'), () => void end(run, 'aborted', new Fault('from outside')))
  let outcome: Outcome | undefined
  const turn = callOf(run, 'turn', 'turn', undefined, (attempt) => loop(run, attempt))
  time.start(wholeTurn(run, turn)).settled(() => {
    outcome = outcomeOf(run)
  })
  time.run()
  return { outcome: outcome ?? { ...outcomeOf(run), status: 'failed', why: never }, open: run.open }
}

/** Why a case is none: nothing ends it. */
export const never = 'the run never settles'

/** The turn to its end: decided when the outermost layer has returned, told when left attempts have unwound. */
function* wholeTurn(run: Run, call: Call): Steps<void> {
  try {
    yield* on(through(run, call))
  } catch (error) {
    // What the pipes had was drained before.
    run.flowedAt = -1
    end(run, 'failed', error as Fault)
  }
  run.decided = true
  for (const layer of run.layers) {
    const left = leftAt(layer.attempt)
    const since = Math.min(left ?? Number.POSITIVE_INFINITY, run.ended?.at ?? Number.POSITIVE_INFINITY)
    if (layer.exited || since === Number.POSITIVE_INFINITY) continue
    const deadline = since + grace
    if (deadline > run.time.now) yield* on(first(run, [layer.done, run.time.after(deadline - run.time.now)]))
    if (!layer.exited) hangs(run)
  }
  closeHistory(run)
  run.over = true
}

function first(run: Run, cells: readonly Cell[]): Cell {
  const any = run.cell()
  for (const cell of cells) cell.settled(() => any.resolve(undefined))
  return any
}
