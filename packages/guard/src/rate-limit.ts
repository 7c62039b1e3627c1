/// <reference path="./rate-limiter-memory.d.ts" />
import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  misconfigured,
  option,
  type TurnContext,
  type TypedMiddleware,
  tenantOf,
  wait,
  withState,
} from '@allium/core'
import { holderOf, idOf, missing } from './account.ts'
import { decide, type FailureOptions, failing, failureOptions, work } from './decide.ts'
import { ending } from './ending.ts'

/** So many turns, or model calls, in each window of somebody. */
export interface Rate {
  limit: number
  /** @default 'minute' */
  window?: 'second' | 'minute' | 'hour' | 'day' | number
  /** Who has a count of his own; `ip` is that of the principal, or of the session's `context`. @default 'session' */
  per?: 'session' | 'user' | 'tenant' | 'ip'
}

export interface RateLimitOptions<Name extends string = string> extends Partial<Rate>, FailureOptions {
  /** Further rates; all of them must have room. */
  rates?: readonly Rate[] | undefined
  /** What is counted: turns, or model calls, those of sub-agents included. @default 'turn' */
  scope?: 'turn' | 'model' | undefined
  /** What happens beyond the limit: the turn is blocked, it waits for room, or a function answers in its place; the turn is blocked where that gives nothing. @default 'block' */
  onLimit?: 'block' | 'wait' | OnRateLimit | undefined
  /** The longest that `onLimit: 'wait'` waits, in milliseconds; beyond it the turn is blocked. @default 60_000 */
  maxWait?: number | undefined
  /** The name of the count, in place of `per`. It must keep tenants apart. */
  key?(ctx: TurnContext): string
  /** Makes what counts: a limiter of rate-limiter-flexible, for one rate. Several processes share one in Redis. @default its RateLimiterMemory */
  store?(options: { keyPrefix: string; points: number; duration: number }): RateStore
  /** The layer's name, and how its state key begins. @default 'guard:rateLimit' */
  as?: Name | undefined
}

/** The part of a limiter of rate-limiter-flexible that is used. */
export interface RateStore {
  /** Rejects with `{ msBeforeNext }` where there is no room. */
  consume(key: string, points?: number): Promise<unknown>
  /** Gives points back. */
  reward(key: string, points?: number): Promise<unknown>
}

/** A rate had no room. */
export interface RateLimited {
  type: 'guard:rateLimit'
  layer: string
  limit: number
  /** The window in milliseconds. */
  window: number
  per: string
  /** Milliseconds until there may be room. */
  retryAfter: number
  /** Whether the turn waits for it. */
  waits: boolean
}

export type OnRateLimit = (
  ctx: TurnContext,
  limited: RateLimited,
) => string | undefined | void | Promise<string | undefined | void>

declare module '@allium/core' {
  interface AgentEvents {
    'guard:rateLimit': RateLimited
  }
}

/** Seconds until a refused turn may be tried again; 0 where it was not refused. */
export type RateLimitState<Name extends string> = Record<`${Name}:retryAfter`, number>

const window = option.either(option.oneOf('second', 'minute', 'hour', 'day'), option.number({ above: 0 }))
const per = option.oneOf('session', 'user', 'tenant', 'ip')
const readOptions = layerOptions<RateLimitOptions>('guard:rateLimit', {
  limit: option.number({ from: 1 }),
  window,
  per,
  rates: option.list(option.shape<Rate>({ limit: option.required(option.number({ from: 1 })), window, per })),
  scope: option.oneOf('turn', 'model'),
  onLimit: option.either(option.oneOf('block', 'wait'), option.fn),
  maxWait: option.number({ from: 0 }),
  key: option.fn,
  store: option.fn,
  ...failureOptions,
})

/**
 * Lets only so many turns, or model calls, of a session, user, tenant or address through in a time.
 *
 * Register it outside of everything that costs: caches, judges, retries. Rates are counted at once and by one step of the
 * store, so turns that race for the last place do not pass together. Where the store fails or is slow, the turn is blocked.
 *
 * @throws AlliumError `layer.config` for a rate that is none
 * @example
 * agent.use(guard.rateLimit({ limit: 20, window: 'minute', per: 'user' }))
 */
export function rateLimit<Name extends string = 'guard:rateLimit'>(
  given: RateLimitOptions<Name>,
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
  } = readOptions(given)
  const all = [...(limit === undefined ? [] : [{ limit, window, per } as Rate]), ...rates].map(
    (rate) => new Counted(as, rate, store, key),
  )
  if (all.length === 0) throw misconfigured(as, 'needs a limit, or rates.')
  const guard = failing(as, failure)
  /** A store of one's own is waited for. */
  const ask = store === undefined ? work : decide
  const stateKey = `${as}:retryAfter`

  const layer = defineMiddleware<Record<string, number>>({
    name: as,
    order: { is: ['limits'] },
    inherit: true,
    state: { [stateKey]: { default: 0, scope: 'turn', persist: false } },
    ...(scope === 'turn'
      ? {
          async turn(ctx, next) {
            if (ctx.resumed) return next() // counted when it began
            const answer = await enter(ctx)
            if (answer === undefined) return next()
            ctx.output = answer
          },
        }
      : {
          async model(ctx: ModelContext<Record<string, number>>, next) {
            const answer = await enter(ctx)
            return answer === undefined ? next() : ctx.skipCall(answer)
          },
        }),
  })
  return withState<RateLimitState<Name>>(layer)

  /** Undefined: there is room. A text: the answer in its place. */
  async function enter(ctx: TurnContext<Record<string, number>>): Promise<string | undefined> {
    const until = ctx.clock.monotonic() + maxWait
    const keys = all.map((rate) => rate.keyOf(ctx))
    for (;;) {
      const full = await ask(ctx, guard, () => take(all, keys))
      if (full === undefined) return undefined
      const { rate, retryAfter } = full
      const waits = onLimit === 'wait' && ctx.clock.monotonic() + retryAfter <= until
      const limited: RateLimited = {
        type: 'guard:rateLimit',
        layer: as,
        limit: rate.limit,
        window: rate.window,
        per: rate.per,
        retryAfter,
        waits,
      }
      ctx.emit({ ...limited })
      if (waits) {
        await wait(retryAfter, ctx.clock, ctx.signal)
        continue
      }
      ctx.state[stateKey] = Math.ceil(retryAfter / 1000)
      const answer = typeof onLimit === 'function' ? await onLimit(ctx, limited) : undefined
      return typeof answer === 'string'
        ? answer
        : ctx.block(reasonOf(limited), ending('guard.rate_limit', { retryAfter }))
    }
  }

  function reasonOf({ limit, window, per, retryAfter }: RateLimited): string {
    const what = scope === 'turn' ? 'turns' : 'model calls'
    const whose = key === undefined ? per : 'key'
    return `The rate limit "${as}" of ${limit} ${what} in ${timeOf(window)} per ${whose} is reached: try again in ${Math.ceil(retryAfter / 1000)} s.`
  }
}

/** A rate that had no room. */
interface Full {
  readonly rate: Counted
  readonly retryAfter: number
}

/** Takes a place in each rate; gives them back where one has none. */
async function take(rates: readonly Counted[], keys: readonly string[]): Promise<Full | undefined> {
  const taken: (() => Promise<unknown>)[] = []
  for (const [i, rate] of rates.entries()) {
    const key = keys[i] as string
    const retryAfter = await rate.take(key)
    if (retryAfter === undefined) {
      taken.push(() => rate.giveBack(key))
      continue
    }
    await Promise.all(taken.map((giveBack) => giveBack()))
    return { rate, retryAfter }
  }
  return undefined
}

const milliseconds = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }
/** What a timer of the runtime can wait, which clears the windows of the store in memory. */
const longest = 2 ** 31 - 1

/** A rate with its store. */
class Counted {
  readonly limit: number
  readonly window: number
  readonly per: NonNullable<Rate['per']>
  readonly #name: string
  readonly #key: ((ctx: TurnContext) => string) | undefined
  readonly #makeStore: RateLimitOptions['store']
  #store: Promise<RateStore> | undefined

  constructor(
    name: string,
    { limit, window = 'minute', per = 'session' }: Rate,
    store: RateLimitOptions['store'],
    key: RateLimitOptions['key'],
  ) {
    this.#name = name
    this.limit = limit
    this.window = typeof window === 'number' ? window : milliseconds[window]
    this.per = per
    this.#key = key
    this.#makeStore = store
    if (store === undefined && this.window > longest)
      throw misconfigured(
        name,
        `counts ${timeOf(this.window)} in memory, which holds windows of up to 24 days. Give it a store, or use guard.budget with window: 'month'.`,
      )
  }

  keyOf(ctx: TurnContext): string {
    const owner = this.#key === undefined ? this.#owner(ctx) : [this.#key(ctx)]
    return JSON.stringify([this.per, this.window, ...owner])
  }

  /** Takes a place; gives the milliseconds until there may be one where there is none. */
  async take(key: string): Promise<number | undefined> {
    const store = await this.#opened()
    try {
      await store.consume(key, 1)
      return undefined
    } catch (refused) {
      const ms = (refused as { msBeforeNext?: unknown } | undefined)?.msBeforeNext
      if (refused instanceof Error || typeof ms !== 'number') throw refused
      return Math.min(Math.max(ms, 1), this.window)
    }
  }

  async giveBack(key: string): Promise<void> {
    await (await this.#opened()).reward(key, 1)
  }

  #owner(ctx: TurnContext): string[] {
    if (this.per !== 'ip') return holderOf(this.#name, this.per, ctx)
    const ip = idOf(ctx.principal, 'ip') ?? idOf(ctx.context, 'ip')
    return ip === undefined ? missing(this.#name, 'ip', 'a key') : [tenantOf(ctx.principal) ?? '', ip]
  }

  #opened(): Promise<RateStore> {
    this.#store ??= this.#open()
    return this.#store
  }

  async #open(): Promise<RateStore> {
    const options = { keyPrefix: this.#name, points: this.limit, duration: this.window / 1000 }
    if (this.#makeStore !== undefined) return this.#makeStore(options)
    // Not the package's index, which loads a driver for each database.
    const { default: RateLimiterMemory } = await import('rate-limiter-flexible/lib/RateLimiterMemory.js')
    return new RateLimiterMemory(options)
  }
}

function timeOf(ms: number): string {
  const named = Object.entries(milliseconds).find(([, length]) => length === ms)
  return named === undefined ? `${ms} ms` : `a ${named[0]}`.replace('a hour', 'an hour')
}
