import {
  defineMiddleware,
  estimateInputTokens,
  type ModelContext,
  option,
  type TurnView,
  type TypedMiddleware,
  type Usage,
  withState,
  writerOf,
} from '@allium/core'
import type { Price, Prices } from '@allium/shared/prices'
import { type Ledger, memoryLedger, sharedStore } from '@allium/store'
import type { Per, Window } from './account.ts'
import { closeAtEnd, reservationOf } from './budget/budget-account.ts'
import { chargeCall } from './budget/charge-call.ts'
import type { OnLimit } from './budget/limit-policy.ts'
import { countTokens, usdMeter } from './budget/meter.ts'
import { runRecord } from './budget/run-record.ts'
import { Settlements } from './budget/settlements.ts'
import { checkedLimit } from './checked-limit.ts'
import { type LimitOptions, limitOptions } from './limit-options.ts'

export type { BudgetEvent, BudgetExceeded, OnLimit } from './budget/limit-policy.ts'

type TokenEstimate = Pick<Usage, 'inputTokens' | 'outputTokens'>

export interface BudgetOptions<Name extends string = string> extends LimitOptions<Name> {
  /** The limit of an account, in USD or tokens. A function is called for each call, for tenants with different plans. */
  limit: number | ((ctx: ModelContext) => number | Promise<number>)
  /** @default 'usd' */
  unit?: 'usd' | 'tokens' | undefined
  /**
   * The account's owner. `user` and `tenant` are read from the principal's `userId` and `tenantId`. A function returns the name of the
   * account, which must keep tenants apart; it replaces `window`, too. @default 'session'
   */
  per?: Per | ((ctx: ModelContext) => string) | undefined
  /** When accounts reset: every `hour`, `day` or `month` of UTC, or every given number of milliseconds. @default never */
  window?: Window | undefined
  /**
   * What happens to a call that exceeds the limit: the turn is blocked, stopped or aborted, or a function answers instead. If the function
   * returns nothing, the turn is blocked. @default 'block'
   */
  onLimit?: 'block' | 'stop' | 'abort' | OnLimit | undefined
  /** The fraction of the limit, 0 to 1, from which `guard:budget` warns. @default never */
  warnAt?: number | undefined
  /** Where spending is counted. Several processes share one ledger. @default that of the agent's store, else memoryLedger() */
  ledger?: Ledger | undefined
  /** Your own prices; they override the provider's own figure and the public list. Ollama models are free unless they are listed here. */
  prices?: Prices | undefined
  /** The price of a model without a known price, in USD per million tokens. @default { input: 3, output: 15 } */
  fallbackPrice?: Price | undefined
  /**
   * Estimates the usage of a call, which is reserved while it runs. @default one token per 4 characters of input, and `maxOutputTokens` or
   * 1,024 of output
   */
  estimate?(ctx: ModelContext): TokenEstimate
  /**
   * How long a call's hold lasts if its process is lost and no process opens its session again, in milliseconds. While a call
   * runs, its hold is renewed. @default 600_000
   */
  lease?: number | undefined
}

/** The session's spending under the budget, in its unit; with `per: 'turn'`, the turn's spending. */
export type BudgetState<Name extends string> = Record<`${Name}:spent`, number>

const readOptions = limitOptions<BudgetOptions>('guard:budget', {
  limit: option.required(option.either(option.number({ from: 0 }), option.fn), 'the room of an account'),
  unit: option.oneOf('usd', 'tokens'),
  per: option.either(option.oneOf('turn', 'session', 'user', 'tenant'), option.fn),
  window: option.either(option.oneOf('hour', 'day', 'month'), option.number({ above: 0 })),
  onLimit: option.either(option.oneOf('block', 'stop', 'abort'), option.fn),
  warnAt: option.number({ from: 0, to: 1 }),
  ledger: option.object,
  prices: option.either(option.object, option.fn),
  fallbackPrice: option.shape<Price>({
    input: option.required(option.number({ from: 0 }), 'USD for a million tokens'),
    output: option.required(option.number({ from: 0 }), 'USD for a million tokens'),
    cachedInput: option.number({ from: 0 }),
    cacheWrite: option.number({ from: 0 }),
    cacheWriteHour: option.number({ from: 0 }),
  }),
  lease: option.number({ above: 0 }),
  estimate: option.fn,
})

/**
 * Ends a turn before a model call that its account cannot pay for.
 *
 * Register it anywhere. It always runs directly around the provider, so it charges each physical call, including retries and
 * fallbacks, and charges nothing for cached answers. It reserves the estimated usage before a call and settles it afterward from
 * `physicalCallsOf(ctx)`, like `result.usage`. Concurrent turns therefore exceed the limit by one estimate at most. If the ledger
 * cannot reserve, the turn fails. A settlement that fails is retried later.
 *
 * @throws AlliumError `layer.config` for a limit that is not a number (at the call if a function returns it), or a `warnAt` outside 0 to 1
 * @example
 * agent.use(guard.budget({ limit: 1.0, per: 'tenant', window: 'day' }))
 */
export function budget<Name extends string = 'guard:budget'>(
  options: BudgetOptions<Name>,
): TypedMiddleware<BudgetState<Name>> {
  const {
    limit,
    unit = 'usd',
    per = 'session',
    window,
    onLimit = 'block',
    warnAt,
    ledger: ledgerOption,
    prices,
    fallbackPrice = { input: 3, output: 15 },
    estimate = estimateUsage,
    lease = 600_000,
    as,
  } = readOptions(options)
  const policy = { layer: as, unit, per, window, lease, onLimit, warnAt }
  const localLedger = memoryLedger()
  const ledgerOf = (ctx: TurnView) => ledgerOption ?? ctx.find(sharedStore)?.ledger ?? localLedger
  const amountOf = unit === 'usd' ? usdMeter(as, prices, fallbackPrice) : countTokens
  const settlements = new Settlements(as)
  const runs = runRecord(policy, settlements)

  const layer = defineMiddleware<Record<string, unknown>>({
    name: as,
    options: { limit, unit, per, window, onLimit, warnAt, lease },
    // Its work around a turn does not meter anything.
    order: { is: ['meters'], scopes: ['model'] },
    innermost: true,
    inherit: true,
    state: runs.state,
    async agent(ctx, next) {
      try {
        await next()
      } finally {
        await settlements.end(ctx.logger)
      }
    },
    turn(ctx, next) {
      const ledger = ledgerOf(ctx)
      closeAtEnd(ctx, ledger, policy)
      ctx.onEnd(() => settlements.retry())
      return ledger === localLedger || ledger.holds === undefined ? next() : runs.recordRun(ctx, ledger, next)
    },
    async model(ctx, next) {
      await settlements.beforeCall()
      const ledger = ledgerOf(ctx)
      const request = {
        amount: await amountOf(ctx, { model: ctx.model, usage: { ...estimate(ctx), calls: 1 } }),
        limit: checkedLimit(as, typeof limit === 'function' ? await limit(ctx) : limit),
        ...reservationOf(ctx, policy),
        ...(ledger !== localLedger && { ttl: lease, run: runs.runOf(ctx), by: writerOf(ctx) }),
      }
      return chargeCall(ctx, { policy, ledger, request, amountOf, runs, settlements }, next)
    },
  })
  return withState<BudgetState<Name>>(layer)
}

function estimateUsage({ request }: ModelContext): TokenEstimate {
  return { inputTokens: estimateInputTokens(request), outputTokens: request.settings.maxOutputTokens ?? 1_024 }
}
