import { noteFields } from '@allium/core'
import { attemptOf, endsRun } from './attempt.ts'
import { type Combinable, type Combined, combine } from './combine.ts'
import { guardTransforms } from './guard-transforms.ts'
import { NextTracker, reportFailure, runGuarded } from './layer-failure.ts'

/**
 * Goes on as though the layer were not there, when the layer itself throws.
 *
 * For layers that help but must not decide: a recommendation, a log, a cache. What next() gave is kept; where the
 * layer threw before next(), its changes to the call are undone and next() is called in its place. Errors from inside,
 * aborts and blocks pass as they are. Each failure is told as a `layer:failed` event to observers, and to the logger.
 *
 * @example
 * agent.use(failOpen(relatedArticles()))
 */
export function failOpen<M extends Combinable>(layer: M): Combined<M> {
  return combine('failOpen', layer, (hook) => (ctx, next) => {
    const restoreFields = noteFields(attemptOf(ctx))
    const tracker = new NextTracker(next, true)
    const report = (error: unknown) => reportFailure(ctx, hook, 'open', error)
    const guardedCtx = guardTransforms(ctx, hook, (error) => {
      if (endsRun(ctx, error)) throw error
      report(error)
    })
    return runGuarded(hook, guardedCtx, tracker, (error) => {
      report(error)
      const { running, outcome } = tracker
      if (running !== undefined) return running
      tracker.rethrowInner(error)
      if (outcome !== undefined && 'value' in outcome) return outcome.value
      restoreFields()
      return next()
    })
  })
}
