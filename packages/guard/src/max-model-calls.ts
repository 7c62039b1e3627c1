import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  option,
  sum,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { blockOptions } from './block-options.ts'

export interface MaxModelCallsOptions<Name extends string = string> {
  /** Calls that a turn, or a session, may make; each attempt of a retry is one, and each call of a sub-agent. */
  limit: number
  /** @default 'turn' */
  per?: 'turn' | 'session' | undefined
  /** What the call gets that is one too many: the loop ends with what there is, the turn is blocked, or aborted. @default 'stop' */
  onLimit?: 'stop' | 'block' | 'abort' | undefined
  /** The layer's name, and how its state key begins. @default 'guard:maxModelCalls' */
  as?: Name | undefined
}

const readOptions = layerOptions<MaxModelCallsOptions>('guard:maxModelCalls', {
  limit: option.required(option.number({ from: 1 }), 'the calls that may be made'),
  per: option.oneOf('turn', 'session'),
  onLimit: option.oneOf('stop', 'block', 'abort'),
})

/**
 * Ends a turn that asks the model too often.
 *
 * Against loops that go on for ever, and retries that multiply: `maxSteps` of the agent counts steps, this counts
 * physical calls. Register it anywhere: it stands right around the provider.
 *
 * @throws AlliumError `layer.config` for a limit below 1
 * @example
 * agent.use(guard.maxModelCalls({ limit: 10 }))
 */
export function maxModelCalls<Name extends string = 'guard:maxModelCalls'>(
  given: MaxModelCallsOptions<Name>,
): TypedMiddleware<Record<`${Name}:calls`, number>> {
  const { limit, per = 'turn', onLimit = 'stop', as = 'guard:maxModelCalls' as Name } = readOptions(given)
  const key = `${as}:calls`
  const layer = defineMiddleware<Record<string, number>>({
    name: as,
    order: { is: ['meters'] },
    innermost: true,
    inherit: true,
    state: { [key]: sum({ scope: per }) },
    async model(ctx, next) {
      if ((ctx.state[key] ?? 0) >= limit) return rejectCall(ctx)
      ctx.state[key] = 1
      return next()
    },
  })
  return withState<Record<`${Name}:calls`, number>>(layer)

  function rejectCall(ctx: ModelContext) {
    const reason = `"${as}": ${limit} model calls per ${per} have been made.`
    if (onLimit === 'block') return ctx.block(reason, blockOptions('guard.max_model_calls'))
    if (onLimit === 'abort') return ctx.abort(reason)
    ctx.stop(reason)
    return ctx.skipCall('')
  }
}
