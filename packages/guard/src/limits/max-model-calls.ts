import { defineMiddleware, option, sum, type TypedMiddleware, withState } from '@allium/core'
import { counted } from './counted.ts'
import { endTurn } from './end-turn.ts'
import { type LimitOptions, limitOptions } from './limit-options.ts'

export interface MaxModelCallsOptions<Name extends string = string> extends LimitOptions<Name> {
  /** How many calls a turn or session may make. Each attempt of a retry and each call of a sub-agent counts. */
  limit: number
  /** @default 'turn' */
  per?: 'turn' | 'session' | undefined
  /**
   * What happens at the first call over the limit: the loop ends with the results so far, or the turn is blocked or aborted. @default
   * 'stop'
   */
  onLimit?: 'stop' | 'block' | 'abort' | undefined
}

const readOptions = limitOptions<MaxModelCallsOptions>('guard:maxModelCalls', {
  limit: option.required(option.number({ from: 1 }), 'the calls that may be made'),
  per: option.oneOf('turn', 'session'),
  onLimit: option.oneOf('stop', 'block', 'abort'),
})

/**
 * Ends a turn that calls the model too often.
 *
 * It stops infinite loops and multiplying retries. The agent's `maxSteps` counts steps; this layer counts physical calls. Register
 * it anywhere: it always runs directly around the provider.
 *
 * @throws AlliumError `layer.config` for a limit below 1
 * @example
 * agent.use(guard.maxModelCalls({ limit: 10 }))
 */
export function maxModelCalls<Name extends string = 'guard:maxModelCalls'>(
  given: MaxModelCallsOptions<Name>,
): TypedMiddleware<Record<`${Name}:calls`, number>> {
  const { limit, per = 'turn', onLimit = 'stop', as } = readOptions(given)
  const key = `${as}:calls`
  const layer = defineMiddleware<Record<string, number>>({
    name: as,
    options: { limit, per, onLimit },
    order: { is: ['meters'] },
    innermost: true,
    inherit: true,
    state: { [key]: sum({ scope: per }) },
    async model(ctx, next) {
      if ((ctx.state[key] ?? 0) >= limit)
        return endTurn(
          ctx,
          onLimit,
          `"${as}": the limit of ${counted(limit, 'model call')} per ${per} is reached.`,
          'guard.max_model_calls',
        )
      ctx.state[key] = 1
      return next()
    },
  })
  return withState<Record<`${Name}:calls`, number>>(layer)
}
