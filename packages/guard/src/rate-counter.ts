/// <reference path="./rate-limiter-memory.d.ts" />
import { misconfigured, type RateCounter, sharedStore, type TurnContext, tenantOf } from '@allium/core'
import { accountOwner, principalField, throwMissingField } from './account.ts'
import { ledgerRateStore } from './ledger-rate-store.ts'

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
  undo?(receipt: unknown): Promise<unknown>
}

/** Makes what counts a rate. */
export type MakeRateStore = (options: { keyPrefix: string; points: number; duration: number }) => RateStore

/** A rate that had no room. */
interface RateExceeded {
  /** Which of the places. */
  readonly slotIndex: number
  readonly limit: number
  readonly retryAfter: number
}

/** A place in a rate: who is counted there, and how many places there are. */
export interface RateSlot {
  readonly rate: RateRule
  readonly key: string
  readonly limit: number
  readonly openStore: () => Promise<RateStore>
  /** What its store gave for it, where it takes that back: plain data. */
  receipt?: unknown
}

/** Takes each place, or none and tells which rate is full. */
export async function consumeAll(slots: readonly RateSlot[]): Promise<RateExceeded | undefined> {
  for (const [i, slot] of slots.entries()) {
    const retryAfter = await slot.rate.consume(slot)
    if (retryAfter === undefined) continue
    await refund(slots.slice(0, i))
    return { slotIndex: i, limit: slot.limit, retryAfter }
  }
  return undefined
}

export async function refund(slots: readonly RateSlot[]): Promise<void> {
  await Promise.all(
    slots.map(async ({ openStore, key, receipt }) => {
      const store = await openStore()
      await (store.undo === undefined ? store.reward(key, 1) : store.undo(receipt))
    }),
  )
}

const windowLengths = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }
/** What a timer of the runtime can wait, which clears the windows of the store in memory. */
const maxTimer = 2 ** 31 - 1

/** For who is counted in this process. */
const localScope = {}

/** A rate with its stores, one for each limit and each agent's store. */
export class RateRule {
  readonly window: number
  readonly per: NonNullable<Rate['per']>
  readonly #name: string
  readonly #key: ((ctx: TurnContext) => string) | undefined
  readonly #makeStore: MakeRateStore | undefined
  readonly #limit: Rate['limit']
  readonly #stores = new WeakMap<object, Map<number, Promise<RateStore>>>()

  constructor(
    name: string,
    { limit, window = 'minute', per = 'session' }: Rate,
    store: MakeRateStore | undefined,
    key: ((ctx: TurnContext) => string) | undefined,
  ) {
    this.#name = name
    this.#limit = limit
    this.window = typeof window === 'number' ? window : windowLengths[window]
    this.per = per
    this.#key = key
    this.#makeStore = store
    if (store === undefined && this.window > maxTimer)
      throw misconfigured(
        name,
        `counts ${windowText(this.window)} in memory, which holds up to 24 days. Give it a store, or use guard.budget.`,
      )
  }

  keyOf(ctx: TurnContext): string {
    const owner = this.#key === undefined ? this.#ownerParts(ctx) : [this.#key(ctx)]
    return JSON.stringify([this.per, this.window, ...owner])
  }

  /** How many places there are for this one; a function is asked. */
  limitOf(ctx: TurnContext): number | Promise<number> {
    return typeof this.#limit === 'function' ? this.#limit(ctx) : this.#limit
  }

  /** Whether what counts it is elsewhere, and is to be waited for. */
  isRemote(ctx: Pick<TurnContext, 'find' | 'clock'>): boolean {
    return this.#makeStore !== undefined || this.#sharedStore(ctx) !== undefined
  }

  slotFor(ctx: TurnContext, limit: number): RateSlot {
    return { rate: this, key: this.keyOf(ctx), limit, openStore: () => this.#storeFor(ctx, limit) }
  }

  /** Takes a place; gives the milliseconds until there may be one where there is none. */
  async consume(slot: RateSlot): Promise<number | undefined> {
    const store = await slot.openStore()
    try {
      const receipt = await store.consume(slot.key, 1)
      if (store.undo !== undefined) slot.receipt = receipt
      return undefined
    } catch (refused) {
      const ms = (refused as { msBeforeNext?: unknown } | undefined)?.msBeforeNext
      if (refused instanceof Error || typeof ms !== 'number') throw refused
      return Math.min(Math.max(ms, 1), this.window)
    }
  }

  #ownerParts(ctx: TurnContext): string[] {
    if (this.per !== 'ip') return accountOwner(this.#name, this.per, ctx, 'a key')
    const ip = principalField(ctx.principal, 'ip') ?? principalField(ctx.context, 'ip')
    return ip === undefined ? throwMissingField(this.#name, 'ip', 'a key') : [tenantOf(ctx.principal) ?? '', ip]
  }

  /** What makes stores, where the agent's store can count. */
  #sharedStore(ctx: Pick<TurnContext, 'find' | 'clock'>): { scope: object; makeStore: MakeRateStore } | undefined {
    const { limits, ledger } = ctx.find(sharedStore) ?? {}
    if (limits !== undefined) return { scope: limits, makeStore: limits }
    return ledger === undefined ? undefined : { scope: ledger, makeStore: ledgerRateStore(ledger, ctx.clock) }
  }

  #storeFor(ctx: TurnContext, limit: number): Promise<RateStore> {
    const shared = this.#makeStore === undefined ? this.#sharedStore(ctx) : undefined
    const scope = shared?.scope ?? localScope
    const stores = this.#stores.get(scope) ?? new Map<number, Promise<RateStore>>()
    this.#stores.set(scope, stores)
    const opening = stores.get(limit) ?? this.#createStore(limit, this.#makeStore ?? shared?.makeStore)
    stores.set(limit, opening)
    return opening
  }

  async #createStore(points: number, makeStore: MakeRateStore | undefined): Promise<RateStore> {
    const options = { keyPrefix: this.#name, points, duration: this.window / 1000 }
    if (makeStore !== undefined) return makeStore(options)
    // Not the package's index, which loads a driver for each database.
    const { default: RateLimiterMemory } = await import('rate-limiter-flexible/lib/RateLimiterMemory.js')
    return new RateLimiterMemory(options)
  }
}

export function windowText(ms: number): string {
  const named = Object.entries(windowLengths).find(([, length]) => length === ms)
  return named === undefined ? `${ms} ms` : `a ${named[0]}`.replace('a hour', 'an hour')
}
