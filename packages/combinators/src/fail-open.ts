import { noteFields } from '@allium/core/internal'
import { endsRun } from './attempt.ts'
import { type Combinable, type Combined, combine } from './combine.ts'
import { guardTransforms } from './guard-transforms.ts'
import { NextTracker, reportFailure, runGuarded } from './layer-failure.ts'

/**
 * Continues without the layer when the layer itself throws.
 *
 * Use it for optional layers: recommendations, logs, caches. The result of next() is kept. If the layer threw before next(), its
 * changes to the call are undone and next() is called instead. Errors from inside, aborts and blocks pass through. Each failure emits a
 * `layer:failed` event to observers and is logged.
 *
 * @example
 * agent.use(failOpen(relatedArticles()))
 */
export function failOpen<M extends Combinable>(layer: M): Combined<M> {
  return combine('failOpen', layer, (hook) => (ctx, next) => {
    const restoreFields = noteFields(ctx)
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
