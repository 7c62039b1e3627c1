import { noteFields } from '@allium/core'
import { attemptOf, isEnding } from './attempt.ts'
import { type Combinable, type Combined, combine } from './combine.ts'
import { Inside, runGuarded, tellFailure } from './own-failure.ts'
import { watchTransforms } from './own-transforms.ts'

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
  return combine('failOpen', layer, (place) => (ctx, next) => {
    const undo = noteFields(attemptOf(ctx))
    const inside = new Inside(next, true)
    const tell = (error: unknown) => tellFailure(ctx, place, 'open', error)
    const watched = watchTransforms(ctx, place, (error) => {
      if (isEnding(ctx, error)) throw error
      tell(error)
    })
    return runGuarded(place, watched, inside, (error) => {
      tell(error)
      const { running, outcome } = inside
      if (running !== undefined) return running
      inside.throwOver(error)
      if (outcome !== undefined && 'value' in outcome) return outcome.value
      undo()
      return next()
    })
  })
}
