import {
  defineMiddleware,
  delay,
  isAlliumError,
  layerOptions,
  type ModelContext,
  misconfigured,
  option,
  type TurnView,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { isResumed, physicalCallsOf } from '@allium/core/context'
import { blockOptions } from '../rules/block-options.ts'
import { checkRunner, type FailureOptions, failureOptions, failurePolicy, runCheck } from '../rules/run-check.ts'
import { checkedLimit } from './checked-limit.ts'
import { counted } from './counted.ts'
import { consumeAll, type Rate, type RateExceeded, RateRule, type RateSlot, refund, windowText } from './rate-rule.ts'
import type { MakeRateStore } from './rate-store.ts'

export interface RateLimitOptions<Name extends string = string> extends Partial<Rate>, FailureOptions {
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
  /** Returns the name of the count; replaces `per`. It must keep tenants apart. */
  key?(ctx: TurnView): string
  /**
   * Creates the limiter for one rate, from rate-limiter-flexible. Several processes share one in Redis. @default the limits of the agent's
   * store, or its ledger; else RateLimiterMemory
   */
  store?: MakeRateStore | undefined
  /** The layer's name, and the prefix of its state key. @default 'guard:rateLimit' */
  as?: Name | undefined
}

/** A rate reached its limit. */
export interface RateLimitEvent {
  type: 'guard:rateLimit'
  layer: string
  limit: number
  /** The window in milliseconds. */
  window: number
  per: string
  /** Milliseconds until there may be room. */
  retryAfter: number
  /** Whether the turn waits until then. */
  waits: boolean
}

export type OnRateLimit = (
  ctx: TurnView,
  limited: RateLimitEvent,
) => string | undefined | void | Promise<string | undefined | void>

declare module '@allium/core' {
  interface AgentEvents {
    'guard:rateLimit': RateLimitEvent
  }
}

/** Seconds until a refused turn can be retried; 0 if it was not refused. */
export type RateLimitState<Name extends string> = Record<`${Name}:retryAfter`, number>

const rateOptions = {
  limit: option.either(option.number({ from: 1 }), option.fn),
  window: option.either(option.oneOf('second', 'minute', 'hour', 'day'), option.number({ above: 0 })),
  per: option.oneOf('session', 'user', 'tenant', 'ip'),
}
const readOptions = layerOptions<RateLimitOptions>('guard:rateLimit', {
  ...rateOptions,
  rates: option.list(option.shape<Rate>({ ...rateOptions, limit: option.required(rateOptions.limit) })),
  scope: option.oneOf('turn', 'model'),
  onLimit: option.either(option.oneOf('block', 'wait'), option.fn),
  maxWait: option.number({ from: 0 }),
  key: option.fn,
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
    key,
    store,
    as = 'guard:rateLimit' as Name,
    ...failure
  } = readOptions(options)
  const rules = [...(limit === undefined ? [] : [{ limit, window, per } as Rate]), ...rates].map(
    (rate) => new RateRule(as, rate, store, key),
  )
  if (rules.length === 0) throw misconfigured(as, 'needs a limit, or rates.')
  const guard = failurePolicy(as, failure)
  /** Waits only for a remote store. */
  const runGuarded = checkRunner(guard, (ctx: Pick<TurnView, 'find' | 'clock'>) =>
    rules.some((rate) => rate.isRemote(ctx)),
  )
  const hasDynamicLimit = typeof limit === 'function' || rates.some((rate) => typeof rate.limit === 'function')
  const stateKey = `${as}:retryAfter`

  const layer = defineMiddleware<Record<string, number>>({
    name: as,
    options: { limit, window, per, rates, scope, onLimit, maxWait },
    order: { is: ['limits'] },
    inherit: true,
    state: { [stateKey]: { default: 0, scope: 'turn', persist: false } },
    ...(scope === 'turn'
      ? {
          async turn(ctx, next) {
            if (isResumed(ctx)) return next() // counted when the turn began
            const acquired = await acquire(ctx)
            if (typeof acquired !== 'string') return refundIfUncalled(acquired, next, () => ctx.usage.calls)
            ctx.output = acquired
          },
        }
      : {
          async model(ctx: ModelContext<Record<string, number>>, next) {
            const acquired = await acquire(ctx)
            if (typeof acquired === 'string') return ctx.skipCall(acquired)
            return refundIfUncalled(acquired, next, () => physicalCallsOf(ctx).length)
          },
        }),
  })
  return withState<RateLimitState<Name>>(layer)

  /** Returns the slots that were consumed, or the text that answers instead. */
  async function acquire(ctx: TurnView<Record<string, number>>): Promise<readonly RateSlot[] | string> {
    const deadline = ctx.clock.monotonic() + maxWait
    const slots = await slotsFor(ctx)
    for (;;) {
      const outcome = await runGuarded(ctx, () =>
        ctx.once('take', () => tryConsume(ctx, slots, deadline), { per: 'attempt' }),
      )
      if (outcome === undefined) return slots
      if ('receipts' in outcome)
        return slots.map((slot, i): RateSlot => ({ ...slot, receipt: outcome.receipts[i] ?? undefined }))
      const { slotIndex, until, ...reached } = outcome.full
      const { rate } = slots[slotIndex] as RateSlot
      const { retryAfter, waits } = reached
      const limited: RateLimitEvent = {
        type: 'guard:rateLimit',
        layer: as,
        ...reached,
        window: rate.window,
        per: rate.per,
      }
      ctx.emit({ ...limited })
      if (waits) {
        const remaining = Math.min(retryAfter, until - ctx.clock.now())
        if (remaining > 0) await delay(remaining, ctx.clock, ctx.signal)
        continue
      }
      ctx.state[stateKey] = Math.ceil(retryAfter / 1000)
      const answer = typeof onLimit === 'function' ? await onLimit(ctx, limited) : undefined
      return typeof answer === 'string'
        ? answer
        : ctx.block(blockReason(limited), blockOptions('guard.rate_limit', { retryAfter }))
    }
  }

  /** Returns plain data, so that a replay counts once and waits as the first run did. */
  async function tryConsume(ctx: TurnView, slots: readonly RateSlot[], deadline: number): Promise<ConsumeOutcome> {
    const full = await consumeAll(slots)
    if (full === undefined) return { receipts: slots.map(({ receipt }) => receipt ?? null) }
    const waits = onLimit === 'wait' && ctx.clock.monotonic() + full.retryAfter <= deadline
    return { full: { ...full, waits, until: ctx.clock.now() + full.retryAfter } }
  }

  /** Returns no slots if a limit function fails and the guard allows that. */
  async function slotsFor(ctx: TurnView): Promise<readonly RateSlot[]> {
    const limits = hasDynamicLimit
      ? await runCheck(ctx, guard, () =>
          ctx.once('limits', () => Promise.all(rules.map((rate) => rate.limitOf(ctx))), { per: 'attempt' }),
        )
      : rules.map((rate) => rate.limitOf(ctx) as number)
    return limits === undefined ? [] : rules.map((rate, i) => rate.slotFor(ctx, checkedLimit(as, limits[i])))
  }

  /** Refunds the slots if the call was abandoned before a model was called inside. */
  async function refundIfUncalled<R>(
    slots: readonly RateSlot[],
    next: () => Promise<R>,
    calls: () => number,
  ): Promise<R> {
    try {
      return await next()
    } catch (error) {
      if (isAlliumError(error, 'layer.abandoned') && calls() === 0) await refund(slots).catch(() => {})
      throw error
    }
  }

  function blockReason(limited: RateLimitEvent): string {
    const requests = counted(limited.limit, scope === 'turn' ? 'turn' : 'model call')
    const scopeName = key === undefined ? limited.per : 'key'
    return `The rate limit "${as}" of ${requests} in ${windowText(limited.window)} per ${scopeName} is reached: try again in ${Math.ceil(limited.retryAfter / 1000)} s.`
  }
}

/** The receipts of the stores (null for a store that returns none), or the rate that is full until a time. */
type ConsumeOutcome =
  | { readonly receipts: readonly unknown[] }
  | { readonly full: RateExceeded & { readonly waits: boolean; readonly until: number } }
