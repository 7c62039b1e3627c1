/// <reference path="./rate-limiter-memory.d.ts" />
import { misconfigured, type RateCounter, sharedStore, type TurnContext, tenantOf } from '@allium/core'
import { holderOf, idOf, missing } from './account.ts'
import { ledgerRates } from './ledger-rates.ts'

/** So many turns, or model calls, in each window of somebody. */
export interface Rate {
  /** A function is asked at each turn or call, for tenants with plans of their own. Those of one limit are counted together. */
  limit: number | ((ctx: TurnContext) => number | Promise<number>)
  /** @default 'minute' */
  window?: 'second' | 'minute' | 'hour' | 'day' | number | undefined
  /** Who has a count of his own; `ip` is that of the principal, or of the session's `context`. @default 'session' */
  per?: 'session' | 'user' | 'tenant' | 'ip' | undefined
}

/** The part of a limiter of rate-limiter-flexible that is used. */
export interface RateStore extends RateCounter {
  /** Gives back what `consume` gave, where that is known better than by its key. */
  undo?(taken: unknown): Promise<unknown>
}

/** Makes what counts a rate. */
export type MakeStore = (options: { keyPrefix: string; points: number; duration: number }) => RateStore

/** A rate that had no room. */
interface Full {
  /** Which of the places. */
  readonly place: number
  readonly limit: number
  readonly retryAfter: number
}

/** A place in a rate: who is counted there, and how many places there are. */
export interface Place {
  readonly rate: Counted
  readonly key: string
  readonly limit: number
  readonly open: () => Promise<RateStore>
  /** What its store gave for it, where it takes that back: plain data. */
  taken?: unknown
}

/** Takes each place, or none and tells which rate is full. */
export async function take(places: readonly Place[]): Promise<Full | undefined> {
  for (const [i, place] of places.entries()) {
    const retryAfter = await place.rate.take(place)
    if (retryAfter === undefined) continue
    await giveBack(places.slice(0, i))
    return { place: i, limit: place.limit, retryAfter }
  }
  return undefined
}

export async function giveBack(places: readonly Place[]): Promise<void> {
  await Promise.all(
    places.map(async ({ open, key, taken }) => {
      const store = await open()
      await (store.undo === undefined ? store.reward(key, 1) : store.undo(taken))
    }),
  )
}

const milliseconds = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }
/** What a timer of the runtime can wait, which clears the windows of the store in memory. */
const longest = 2 ** 31 - 1

/** For who is counted in this process. */
const here = {}

/** A rate with its stores, one for each limit and each agent's store. */
export class Counted {
  readonly window: number
  readonly per: NonNullable<Rate['per']>
  readonly #name: string
  readonly #key: ((ctx: TurnContext) => string) | undefined
  readonly #makeStore: MakeStore | undefined
  readonly #limit: Rate['limit']
  readonly #stores = new WeakMap<object, Map<number, Promise<RateStore>>>()

  constructor(
    name: string,
    { limit, window = 'minute', per = 'session' }: Rate,
    store: MakeStore | undefined,
    key: ((ctx: TurnContext) => string) | undefined,
  ) {
    this.#name = name
    this.#limit = limit
    this.window = typeof window === 'number' ? window : milliseconds[window]
    this.per = per
    this.#key = key
    this.#makeStore = store
    if (store === undefined && this.window > longest)
      throw misconfigured(
        name,
        `counts ${timeOf(this.window)} in memory, which holds up to 24 days. Give it a store, or use guard.budget.`,
      )
  }

  keyOf(ctx: TurnContext): string {
    const owner = this.#key === undefined ? this.#owner(ctx) : [this.#key(ctx)]
    return JSON.stringify([this.per, this.window, ...owner])
  }

  /** How many places there are for this one; a function is asked. */
  limitOf(ctx: TurnContext): number | Promise<number> {
    return typeof this.#limit === 'function' ? this.#limit(ctx) : this.#limit
  }

  /** Whether what counts it is elsewhere, and is to be waited for. */
  isElsewhere(ctx: Pick<TurnContext, 'find' | 'clock'>): boolean {
    return this.#makeStore !== undefined || this.#sharedBy(ctx) !== undefined
  }

  placeOf(ctx: TurnContext, limit: number): Place {
    return { rate: this, key: this.keyOf(ctx), limit, open: () => this.#opened(ctx, limit) }
  }

  /** Takes a place; gives the milliseconds until there may be one where there is none. */
  async take(place: Place): Promise<number | undefined> {
    const store = await place.open()
    try {
      const taken = await store.consume(place.key, 1)
      if (store.undo !== undefined) place.taken = taken
      return undefined
    } catch (refused) {
      const ms = (refused as { msBeforeNext?: unknown } | undefined)?.msBeforeNext
      if (refused instanceof Error || typeof ms !== 'number') throw refused
      return Math.min(Math.max(ms, 1), this.window)
    }
  }

  #owner(ctx: TurnContext): string[] {
    if (this.per !== 'ip') return holderOf(this.#name, this.per, ctx, 'a key')
    const ip = idOf(ctx.principal, 'ip') ?? idOf(ctx.context, 'ip')
    return ip === undefined ? missing(this.#name, 'ip', 'a key') : [tenantOf(ctx.principal) ?? '', ip]
  }

  /** What makes stores, where the agent's store can count. */
  #sharedBy(ctx: Pick<TurnContext, 'find' | 'clock'>): { by: object; make: MakeStore } | undefined {
    const { limits, ledger } = ctx.find(sharedStore) ?? {}
    if (limits !== undefined) return { by: limits, make: limits }
    return ledger === undefined ? undefined : { by: ledger, make: ledgerRates(ledger, ctx.clock) }
  }

  #opened(ctx: TurnContext, limit: number): Promise<RateStore> {
    const shared = this.#makeStore === undefined ? this.#sharedBy(ctx) : undefined
    const by = shared?.by ?? here
    const stores = this.#stores.get(by) ?? new Map<number, Promise<RateStore>>()
    this.#stores.set(by, stores)
    const opening = stores.get(limit) ?? this.#open(limit, this.#makeStore ?? shared?.make)
    stores.set(limit, opening)
    return opening
  }

  async #open(points: number, make: MakeStore | undefined): Promise<RateStore> {
    const options = { keyPrefix: this.#name, points, duration: this.window / 1000 }
    if (make !== undefined) return make(options)
    // Not the package's index, which loads a driver for each database.
    const { default: RateLimiterMemory } = await import('rate-limiter-flexible/lib/RateLimiterMemory.js')
    return new RateLimiterMemory(options)
  }
}

export function timeOf(ms: number): string {
  const named = Object.entries(milliseconds).find(([, length]) => length === ms)
  return named === undefined ? `${ms} ms` : `a ${named[0]}`.replace('a hour', 'an hour')
}
