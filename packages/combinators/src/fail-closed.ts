import { checkOptions, type KeysOf } from '@allium/core/internal'
import { endsRun } from './attempt.ts'
import { type Combinable, type Combined, combine } from './combine.ts'
import { guardTransforms } from './guard-transforms.ts'
import { NextTracker, reportFailure, runGuarded } from './layer-failure.ts'

export interface FailClosedOptions {
  /** The reason in the result and for the model. @default 'The layer "…" failed.' */
  reason?: string | undefined
  /** The reply to the user when a turn or model call is blocked. @default nothing */
  reply?: string | undefined
}

const optionKeys: KeysOf<FailClosedOptions> = { reason: true, reply: true }

/**
 * Refuses the call when the layer itself throws: blocks a turn or a model call, denies a tool call.
 *
 * Use it for guards: a guard that cannot decide must not let a call through, and the run should end as `blocked`, not `failed`. Errors
 * from inside, aborts and blocks pass through, and so do errors of agent and session hooks, which fail the agent anyway. Each failure
 * emits a `layer:failed` event to observers and is logged; the reason does not reveal it.
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
      // In the stream, an error of a transform would look like an error from inside.
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
