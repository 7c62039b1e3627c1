import { checkOptions, type KeysOf } from '@allium/core'
import { endsRun } from './attempt.ts'
import { type Combinable, type Combined, combine } from './combine.ts'
import { guardTransforms } from './guard-transforms.ts'
import { NextTracker, reportFailure, runGuarded } from './layer-failure.ts'

export interface FailClosedOptions {
  /** What the result and the model are told. @default 'The layer "…" failed.' */
  reason?: string | undefined
  /** What the user is told when a turn or model call is blocked. @default nothing */
  reply?: string | undefined
}

const optionKeys: KeysOf<FailClosedOptions> = { reason: true, reply: true }

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
  checkOptions(options, optionKeys, 'failClosed()', 'layer.config')
  return combine('failClosed', layer, (hook) => {
    if (hook.scope === 'agent' || hook.scope === 'session') return hook.run
    const { reason = `The layer "${hook.layer}" failed.`, reply } = options
    return (ctx, next) => {
      const reject = (error: unknown): unknown => {
        reportFailure(ctx, hook, 'closed', error)
        if (hook.scope === 'tool') return ctx.deny?.(reason)
        return ctx.block?.(reason, reply === undefined ? {} : { reply })
      }
      const tracker = new NextTracker(next)
      // In the stream, what a transform throws would look like an error from inside.
      const guardedCtx = guardTransforms(ctx, hook, (error) => {
        if (!endsRun(ctx, error)) reject(error)
        throw error
      })
      return runGuarded(hook, guardedCtx, tracker, (error) => {
        tracker.rethrowInner(error)
        return reject(error)
      })
    }
  })
}
