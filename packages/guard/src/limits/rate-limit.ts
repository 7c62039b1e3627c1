import {
  defineMiddleware,
  type ModelContext,
  misconfigured,
  option,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { isResumed, physicalCallsOf } from '@allium/core/context'
import { type FailureOptions, failureOptions, failurePolicy } from '../rules/failure-options.ts'
import { type LimitOptions, limitOptions } from './limit-options.ts'
import { type OnRateLimit, RateLimiter } from './rate-limiter.ts'
import { type Rate, RateRule } from './rate-rule.ts'
import type { MakeRateStore } from './rate-store.ts'

export interface RateLimitOptions<Name extends string = string>
  extends LimitOptions<Name>,
    Partial<Rate>,
    FailureOptions {
  /** Additional rates; all of them must have room. */
  rates?: readonly Rate[] | undefined
  /** What is counted: turns, or model calls including those of sub-agents. @default 'turn' */
  scope?: 'turn' | 'model' | undefined
  /**
   * What happens over the limit: the turn is blocked, it waits, or a function answers instead. If the function returns nothing, the turn is
   * blocked. @default 'block'
   */
  onLimit?: 'block' | 'wait' | OnRateLimit | undefined
  /** The longest wait with `onLimit: 'wait'`, in milliseconds; after that the turn is blocked. @default 60_000 */
  maxWait?: number | undefined
  /**
   * Creates the limiter for one rate, from rate-limiter-flexible. Several processes share one in Redis. @default the limits of the agent's
   * store, or its ledger; else a ledger in memory
   */
  store?: MakeRateStore | undefined
}

/** Seconds until a refused turn can be retried; 0 if it was not refused. */
export type RateLimitState<Name extends string> = Record<`${Name}:retryAfter`, number>

const rateOptions = {
  limit: option.either(option.number({ from: 1 }), option.fn),
  window: option.either(option.oneOf('second', 'minute', 'hour', 'day'), option.number({ above: 0 })),
  per: option.either(option.oneOf('session', 'user', 'tenant', 'ip'), option.fn),
}
const readOptions = limitOptions<RateLimitOptions>('guard:rateLimit', {
  ...rateOptions,
  rates: option.list(option.shape<Rate>({ ...rateOptions, limit: option.required(rateOptions.limit) })),
  scope: option.oneOf('turn', 'model'),
  onLimit: option.either(option.oneOf('block', 'wait'), option.fn),
  maxWait: option.number({ from: 0 }),
  store: option.fn,
  ...failureOptions,
})

/**
 * Limits the turns or model calls of a session, user, tenant or address per window.
 *
 * Register it outside of everything expensive: caches, judges, retries. The store counts in one atomic step, so concurrent turns
 * cannot both take the last slot. If the store fails or is slow, the turn is blocked.
 *
 * @throws AlliumError `layer.config` for an invalid rate
 * @example
 * agent.use(guard.rateLimit({ limit: 20, window: 'minute', per: 'user' }))
 */
export function rateLimit<Name extends string = 'guard:rateLimit'>(
  options: RateLimitOptions<Name>,
): TypedMiddleware<RateLimitState<Name>> {
  const {
    limit,
    window,
    per,
    rates = [],
    scope = 'turn',
    onLimit = 'block',
    maxWait = 60_000,
    store,
    as,
    ...failure
  } = readOptions(options)
  const rules = [...(limit === undefined ? [] : [{ limit, window, per } as Rate]), ...rates].map(
    (rate) => new RateRule(as, rate, store),
  )
  if (rules.length === 0) throw misconfigured(as, 'needs a limit, or rates.')
  const limiter = new RateLimiter({
    guard: failurePolicy(as, failure),
    rules,
    scope,
    onLimit,
    maxWait,
  })

  const layer = defineMiddleware<Record<string, number>>({
    name: as,
    options: { limit, window, per, rates, scope, onLimit, maxWait },
    order: { is: ['limits'] },
    inherit: true,
    state: { [`${as}:retryAfter`]: { default: 0, scope: 'turn', persist: false } },
    ...(scope === 'turn'
      ? {
          async turn(ctx, next) {
            if (isResumed(ctx)) return next() // counted when the turn began
            const answer = await limiter.run(ctx, next, () => ctx.usage.calls)
            if (typeof answer === 'string') ctx.output = answer
          },
        }
      : {
          async model(ctx: ModelContext<Record<string, number>>, next) {
            const response = await limiter.run(ctx, next, () => physicalCallsOf(ctx).length)
            return typeof response === 'string' ? ctx.skipCall(response) : response
          },
        }),
  })
  return withState<RateLimitState<Name>>(layer)
}
