import { checkOptions, type KeysOf } from '@allium/core'
import { isEnding } from './attempt.ts'
import { type Combinable, type Combined, combine } from './combine.ts'
import { Inside, runGuarded, tellFailure } from './own-failure.ts'
import { watchTransforms } from './own-transforms.ts'

export interface FailClosedOptions {
  /** What the result and the model are told. @default 'The layer "…" failed.' */
  reason?: string | undefined
  /** What the user is told when a turn or model call is blocked. @default nothing */
  reply?: string | undefined
}

const known: KeysOf<FailClosedOptions> = { reason: true, reply: true }

/**
 * Refuses, when the layer itself throws: a turn or a model call is blocked, a tool call is denied.
 *
 * For guards: a guard that cannot decide must not let through, and the run should end as `blocked`, not `failed`. Errors
 * from inside, aborts and blocks pass as they are; so do errors of agent and session hooks, which close the
 * agent as it is. Each failure is told as a `layer:failed` event to observers, and to the logger; the reason tells nothing of it.
 *
 * @example
 * agent.use(failClosed(contentGuard(), { reply: 'Please try again later.' }))
 */
export function failClosed<M extends Combinable>(layer: M, options: FailClosedOptions = {}): Combined<M> {
  checkOptions(options, known, 'failClosed()', 'layer.config')
  return combine('failClosed', layer, (place) => {
    if (place.scope === 'agent' || place.scope === 'session') return place.run
    const { reason = `The layer "${place.layer}" failed.`, reply } = options
    return (ctx, next) => {
      const refuse = (error: unknown): unknown => {
        tellFailure(ctx, place, 'closed', error)
        if (place.scope === 'tool') return ctx.deny?.(reason)
        return ctx.block?.(reason, reply === undefined ? {} : { reply })
      }
      const inside = new Inside(next)
      // In the stream, what a transform throws would look like an error from inside.
      const watched = watchTransforms(ctx, place, (error) => {
        if (!isEnding(ctx, error)) refuse(error)
        throw error
      })
      return runGuarded(place, watched, inside, (error) => {
        inside.throwOver(error)
        return refuse(error)
      })
    }
  })
}
