import { delay, isAlliumError, type TurnView } from '@allium/core'
import type { FailurePolicy } from '../rules/failure-options.ts'
import { blockOptions } from '../rules/guard-codes.ts'
import { checkRunner, runCheck } from '../rules/run-check.ts'
import { checkedLimit } from './checked-limit.ts'
import { counted } from './counted.ts'
import { consumeAll, type RateExceeded, type RateRule, type RateSlot, refund, windowText } from './rate-rule.ts'

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

type Ctx = TurnView<Record<string, number>>

interface RateLimiterSettings {
  readonly guard: FailurePolicy
  readonly rules: readonly RateRule[]
  readonly scope: 'turn' | 'model'
  readonly onLimit: 'block' | 'wait' | OnRateLimit
  readonly maxWait: number
}

/** Takes slots of all rates for turns or model calls. Waits, answers or blocks if one is full. */
export class RateLimiter {
  readonly #settings: RateLimiterSettings
  /** Waits only for a remote store. */
  readonly #runGuarded: ReturnType<typeof checkRunner<Pick<TurnView, 'find' | 'clock'>>>

  constructor(settings: RateLimiterSettings) {
    this.#settings = settings
    this.#runGuarded = checkRunner(settings.guard, (ctx) =>
      settings.rules.some((rate) => rate.sharedCounter(ctx) !== undefined),
    )
  }

  /** Runs a turn or call with its slots. Returns the text that answers in its place, if there is one. */
  async run<R>(ctx: Ctx, next: () => Promise<R>, calls: () => number): Promise<R | string> {
    const slots = await this.#acquire(ctx)
    if (typeof slots === 'string') return slots
    try {
      return await next()
    } catch (error) {
      // Abandoned before a model was called inside.
      if (isAlliumError(error, 'layer.abandoned') && calls() === 0) await refund(slots).catch(() => {})
      throw error
    }
  }

  /** Returns the slots that were consumed, or the text that answers instead. */
  async #acquire(ctx: Ctx): Promise<readonly RateSlot[] | string> {
    const deadline = ctx.clock.monotonic() + this.#settings.maxWait
    const slots = await this.#slotsFor(ctx)
    for (;;) {
      const outcome = await this.#runGuarded(ctx, () =>
        ctx.once('take', () => this.#tryConsume(ctx, slots, deadline), { per: 'attempt' }),
      )
      if (outcome === undefined) return slots
      if ('receipts' in outcome)
        return slots.map((slot, i): RateSlot => ({ ...slot, receipt: outcome.receipts[i] ?? undefined }))
      const { slotIndex, until, ...reached } = outcome.full
      const limited = this.#emitLimited(ctx, (slots[slotIndex] as RateSlot).rate, reached)
      if (!limited.waits) return this.#refuse(ctx, limited)
      const remaining = Math.min(limited.retryAfter, until - ctx.clock.now())
      if (remaining > 0) await delay(remaining, ctx.clock, ctx.signal)
    }
  }

  /** Returns no slots if a limit function fails and the guard allows that. */
  async #slotsFor(ctx: TurnView): Promise<readonly RateSlot[]> {
    const { guard, rules } = this.#settings
    const limits = rules.some((rate) => rate.hasDynamicLimit)
      ? await runCheck(ctx, guard, () =>
          ctx.once('limits', () => Promise.all(rules.map((rate) => rate.limitOf(ctx))), { per: 'attempt' }),
        )
      : rules.map((rate) => rate.limitOf(ctx) as number)
    return limits === undefined ? [] : rules.map((rate, i) => rate.slotFor(ctx, checkedLimit(guard.name, limits[i])))
  }

  /** Returns plain data, so that a replay counts once and waits as the first run did. */
  async #tryConsume(ctx: TurnView, slots: readonly RateSlot[], deadline: number): Promise<ConsumeOutcome> {
    const full = await consumeAll(slots)
    if (full === undefined) return { receipts: slots.map(({ receipt }) => receipt ?? null) }
    const waits = this.#settings.onLimit === 'wait' && ctx.clock.monotonic() + full.retryAfter <= deadline
    return { full: { ...full, waits, until: ctx.clock.now() + full.retryAfter } }
  }

  #emitLimited(
    ctx: TurnView,
    { window, per }: RateRule,
    reached: Pick<RateLimitEvent, 'limit' | 'retryAfter' | 'waits'>,
  ): RateLimitEvent {
    const limited = { type: 'guard:rateLimit', layer: this.#settings.guard.name, ...reached, window, per } as const
    ctx.emit({ ...limited })
    return limited
  }

  /** Returns the text that answers in place of a turn or call over the limit. Without one, blocks the turn. */
  async #refuse(ctx: Ctx, limited: RateLimitEvent): Promise<string> {
    const { guard, onLimit } = this.#settings
    const { retryAfter } = limited
    ctx.state[`${guard.name}:retryAfter`] = seconds(retryAfter)
    const answer = typeof onLimit === 'function' ? await onLimit(ctx, limited) : undefined
    return typeof answer === 'string'
      ? answer
      : ctx.block(this.#blockReason(limited), blockOptions('guard.rate_limit', { retryAfter }))
  }

  #blockReason({ layer, limit, window, per, retryAfter }: RateLimitEvent): string {
    const requests = counted(limit, this.#settings.scope === 'turn' ? 'turn' : 'model call')
    return `The rate limit "${layer}" of ${requests} in ${windowText(window)} per ${per} is reached: try again in ${seconds(retryAfter)} s.`
  }
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1000)
}

/** The receipts of the stores (null for a store that returns none), or the rate that is full until a time. */
type ConsumeOutcome =
  | { readonly receipts: readonly unknown[] }
  | { readonly full: RateExceeded & { readonly waits: boolean; readonly until: number } }
