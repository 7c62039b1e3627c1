import { sessionKeyOf, type TurnView, tenantOf } from '@allium/core'
import { type Ledger, memoryLedger, sharedStore } from '@allium/store'
import { accountOwner, principalField, throwMissingField, windowLengths } from './account.ts'
import { LedgerRateStore } from './ledger-rate-store.ts'
import type { MakeRateStore, RateStore } from './rate-store.ts'

/** A limit on turns or model calls per window, for each session, user, tenant or address. */
export interface Rate {
  /** A function is called for each turn or call, for tenants with different plans. Equal limits share a count. */
  limit: number | ((ctx: TurnView) => number | Promise<number>)
  /** The length of a window: a word, or a number of milliseconds. @default 'minute' */
  window?: 'second' | 'minute' | 'hour' | 'day' | number | undefined
  /**
   * What is counted separately; `ip` is read from the principal or the session's `context`. A function returns the name of the count, which
   * must keep tenants apart. @default 'session'
   */
  per?: 'session' | 'user' | 'tenant' | 'ip' | ((ctx: TurnView) => string) | undefined
}

/** A rate whose limit is reached. */
export interface RateExceeded {
  /** The index of the slot. */
  readonly slotIndex: number
  readonly limit: number
  readonly retryAfter: number
}

/** A slot in a rate: its key and the limit. */
export interface RateSlot {
  readonly rate: RateRule
  readonly key: string
  readonly limit: number
  readonly store: RateStore
  /** The run that needs it. */
  readonly asker: string
  /** The receipt that its store returned and can refund: plain data. */
  receipt?: unknown
}

/** Consumes every slot. If one rate is full, consumes none and returns that rate. */
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
  await Promise.all(slots.map(({ store, key, receipt }) => store.undo?.(receipt) ?? store.reward?.(key, 1)))
}

/** A rate with its stores, one per limit and agent's store. */
export class RateRule {
  readonly window: number
  readonly #per: NonNullable<Rate['per']>
  readonly #name: string
  readonly #makeStore: MakeRateStore | undefined
  readonly #limit: Rate['limit']
  /** Counts in this process. */
  readonly #localLedger = memoryLedger()
  readonly #stores = new WeakMap<object, Map<number, RateStore>>()

  constructor(name: string, { limit, window = 'minute', per = 'session' }: Rate, store: MakeRateStore | undefined) {
    this.#name = name
    this.#limit = limit
    this.window = typeof window === 'number' ? window : windowLengths[window]
    this.#per = per
    this.#makeStore = store
  }

  /** Whose turns or calls it counts, in events and keys. */
  get per(): string {
    return typeof this.#per === 'function' ? 'key' : this.#per
  }

  /** Whether a function returns the limit. */
  get hasDynamicLimit(): boolean {
    return typeof this.#limit === 'function'
  }

  /** Returns the limit, from the function if there is one. */
  limitOf(ctx: TurnView): number | Promise<number> {
    return typeof this.#limit === 'function' ? this.#limit(ctx) : this.#limit
  }

  slotFor(ctx: TurnView, limit: number): RateSlot {
    const key = JSON.stringify([this.per, this.window, ...this.#ownerParts(ctx)])
    const asker = JSON.stringify([this.#name, sessionKeyOf(ctx), ctx.turnId])
    return { rate: this, key, limit, store: this.#storeFor(ctx, limit), asker }
  }

  /** Consumes a slot. If there is none, returns the milliseconds until one may be free. */
  async consume(slot: RateSlot): Promise<number | undefined> {
    const { store, key, asker } = slot
    try {
      const receipt = await (store instanceof LedgerRateStore ? store.consume(key, 1, asker) : store.consume(key, 1))
      if (store.undo !== undefined) slot.receipt = receipt
      return undefined
    } catch (refused) {
      const ms = (refused as { msBeforeNext?: unknown } | undefined)?.msBeforeNext
      if (refused instanceof Error || typeof ms !== 'number') throw refused
      return Math.min(Math.max(ms, 1), this.window)
    }
  }

  #ownerParts(ctx: TurnView): string[] {
    if (typeof this.#per === 'function') return [this.#per(ctx)]
    if (this.#per !== 'ip') return accountOwner(this.#name, this.#per, ctx)
    const ip = principalField(ctx.principal, 'ip') ?? principalField(ctx.context, 'ip')
    return ip === undefined ? throwMissingField(this.#name, 'ip') : [tenantOf(ctx.principal) ?? '', ip]
  }

  /** Returns what counts outside of this process, so that the caller must wait for it. */
  sharedCounter(ctx: Pick<TurnView, 'find'>): MakeRateStore | Ledger | undefined {
    if (this.#makeStore !== undefined) return this.#makeStore
    const { limits, ledger } = ctx.find(sharedStore) ?? {}
    return limits ?? ledger
  }

  #storeFor(ctx: TurnView, limit: number): RateStore {
    const shared = this.sharedCounter(ctx)
    const counter = shared ?? this.#localLedger
    const stores = this.#stores.get(counter) ?? new Map<number, RateStore>()
    this.#stores.set(counter, stores)
    const options = { keyPrefix: this.#name, points: limit, duration: this.window / 1000 }
    const origin = shared === undefined ? ctx.clock.now() : 0
    const store =
      stores.get(limit) ??
      (typeof counter === 'function' ? counter(options) : new LedgerRateStore(counter, ctx.clock, options, origin))
    stores.set(limit, store)
    return store
  }
}

export function windowText(ms: number): string {
  const named = Object.entries(windowLengths).find(([, length]) => length === ms)
  return named === undefined ? `${ms} ms` : `a ${named[0]}`.replace('a hour', 'an hour')
}
