import {
  defineMiddleware,
  isAlliumError,
  layerOptions,
  type ModelContext,
  misconfigured,
  option,
  type TurnContext,
  type TypedMiddleware,
  wait,
  withState,
} from '@allium/core'
import { decide, type FailureOptions, failing, failureOptions, waitingWhere } from './decide.ts'
import { ending } from './ending.ts'
import { Counted, giveBack, type MakeStore, type Place, type Rate, take, timeOf } from './rate-counter.ts'

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
  /** Makes what counts: a limiter of rate-limiter-flexible, for one rate. Several processes share one in Redis. @default the limits of the agent's store, or its ledger; else RateLimiterMemory */
  store?: MakeStore | undefined
  /** The layer's name, and how its state key begins. @default 'guard:rateLimit' */
  as?: Name | undefined
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
const limit = option.either(option.number({ from: 1 }), option.fn)
const per = option.oneOf('session', 'user', 'tenant', 'ip')
const readOptions = layerOptions<RateLimitOptions>('guard:rateLimit', {
  limit,
  window,
  per,
  rates: option.list(option.shape<Rate>({ limit: option.required(limit), window, per })),
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
  const ask = waitingWhere((ctx: Pick<TurnContext, 'find' | 'clock'>) => all.some((rate) => rate.isElsewhere(ctx)))
  const asksLimits = [limit, ...rates.map((rate) => rate.limit)].some((limit) => typeof limit === 'function')
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
            const entered = await enter(ctx)
            if (typeof entered !== 'string') return unlessLeft(ctx, entered, next)
            ctx.output = entered
          },
        }
      : {
          async model(ctx: ModelContext<Record<string, number>>, next) {
            const entered = await enter(ctx)
            return typeof entered === 'string' ? ctx.skipCall(entered) : unlessLeft(ctx, entered, next)
          },
        }),
  })
  return withState<RateLimitState<Name>>(layer)

  /** The places that it has taken, or a text: the answer in place of what has none. */
  async function enter(ctx: TurnContext<Record<string, number>>): Promise<readonly Place[] | string> {
    const until = ctx.clock.monotonic() + maxWait
    const places = await placesOf(ctx)
    for (;;) {
      const taken = await ask(ctx, guard, () => ctx.once('take', () => tryAll(ctx, places, until), { per: 'attempt' }))
      if (taken === undefined) return places
      if ('taken' in taken) return places.map((place, i) => ({ ...place, taken: taken.taken[i] ?? undefined }))
      const { limit, retryAfter, waits } = taken.full
      const { window, per } = (places[taken.full.place] as Place).rate
      const limited: RateLimited = { type: 'guard:rateLimit', layer: as, limit, window, per, retryAfter, waits }
      ctx.emit({ ...limited })
      if (waits) {
        const left = Math.min(retryAfter, taken.full.until - ctx.clock.now())
        if (left > 0) await wait(left, ctx.clock, ctx.signal)
        continue
      }
      ctx.state[stateKey] = Math.ceil(retryAfter / 1000)
      const answer = typeof onLimit === 'function' ? await onLimit(ctx, limited) : undefined
      return typeof answer === 'string'
        ? answer
        : ctx.block(reasonOf(limited), ending('guard.rate_limit', { retryAfter }))
    }
  }

  /** Plain data, so that a replay is counted once, and waits as it waited. */
  async function tryAll(ctx: TurnContext, places: readonly Place[], end: number): Promise<Tried> {
    const full = await take(places)
    if (full === undefined) return { taken: places.map(({ taken }) => taken ?? null) }
    const { place, limit, retryAfter } = full
    const waits = onLimit === 'wait' && ctx.clock.monotonic() + retryAfter <= end
    return { full: { place, limit, retryAfter, waits, until: ctx.clock.now() + retryAfter } }
  }

  /** None where a function fails and the guard allows that. */
  async function placesOf(ctx: TurnContext): Promise<readonly Place[]> {
    const limits = asksLimits
      ? await decide(ctx, guard, () =>
          ctx.once('limits', () => Promise.all(all.map((rate) => rate.limitOf(ctx))), { per: 'attempt' }),
        )
      : all.map((rate) => rate.limitOf(ctx) as number)
    return limits === undefined ? [] : all.map((rate, i) => rate.placeOf(ctx, roomOf(limits[i])))
  }

  function roomOf(room: unknown): number {
    if (typeof room === 'number' && room >= 0) return room
    throw misconfigured(as, `needs limit of 0 or more, but ${room} was given.`)
  }

  /** Nobody waits for what took its places too late: they are given back. */
  async function unlessLeft<R>(ctx: TurnContext, places: readonly Place[], next: () => Promise<R>): Promise<R> {
    try {
      return await next()
    } catch (error) {
      if (isAlliumError(error, 'layer.left') && !hasBegun(ctx)) await giveBack(places).catch(() => {})
      throw error
    }
  }

  function reasonOf({ limit, window, per, retryAfter }: RateLimited): string {
    const what = scope === 'turn' ? 'turns' : 'model calls'
    const whose = key === undefined ? per : 'key'
    return `The rate limit "${as}" of ${limit} ${what} in ${timeOf(window)} per ${whose} is reached: try again in ${Math.ceil(retryAfter / 1000)} s.`
  }
}

/** What the stores gave for each place, or what is full. */
type Tried =
  | { readonly taken: readonly unknown[] }
  | { readonly full: { place: number; limit: number; retryAfter: number; waits: boolean; until: number } }

/** Whether a model was called inside. */
function hasBegun(ctx: TurnContext): boolean {
  const calls = (ctx as Partial<ModelContext>).physicalCalls
  return (calls === undefined ? ctx.usage.calls : calls.length) > 0
}
