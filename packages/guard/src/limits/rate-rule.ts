import { misconfigured, type TurnView, tenantOf } from '@allium/core'
import { sharedStore } from '@allium/store'
import { accountOwner, principalField, throwMissingField } from './account.ts'
import { ledgerRateStore, type MakeRateStore, memoryRateStore, type RateStore } from './rate-store.ts'

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
  readonly openStore: () => Promise<RateStore>
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
  await Promise.all(
    slots.map(async ({ openStore, key, receipt }) => {
      const store = await openStore()
      await (store.undo === undefined ? store.reward(key, 1) : store.undo(receipt))
    }),
  )
}

const windowLengths = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }
/** The longest delay of a JavaScript timer; timers clear the windows of the in-memory store. */
const maxTimer = 2 ** 31 - 1

/** The scope of counts in this process. */
const localScope = {}

/** A rate with its stores, one per limit and agent's store. */
export class RateRule {
  readonly window: number
  readonly #per: NonNullable<Rate['per']>
  readonly #name: string
  readonly #makeStore: MakeRateStore | undefined
  readonly #limit: Rate['limit']
  readonly #stores = new WeakMap<object, Map<number, Promise<RateStore>>>()

  constructor(name: string, { limit, window = 'minute', per = 'session' }: Rate, store: MakeRateStore | undefined) {
    this.#name = name
    this.#limit = limit
    this.window = typeof window === 'number' ? window : windowLengths[window]
    this.#per = per
    this.#makeStore = store
    if (store === undefined && this.window > maxTimer)
      throw misconfigured(
        name,
        `counts ${windowText(this.window)} in memory, where a window is at most 24 days. Pass a store, or use guard.budget.`,
      )
  }

  /** Whose turns or calls it counts, in events and keys. */
  get per(): string {
    return typeof this.#per === 'function' ? 'key' : this.#per
  }

  keyOf(ctx: TurnView): string {
    return JSON.stringify([this.per, this.window, ...this.#ownerParts(ctx)])
  }

  /** Whether a function returns the limit. */
  get hasDynamicLimit(): boolean {
    return typeof this.#limit === 'function'
  }

  /** Returns the limit, from the function if there is one. */
  limitOf(ctx: TurnView): number | Promise<number> {
    return typeof this.#limit === 'function' ? this.#limit(ctx) : this.#limit
  }

  /** Whether the count is outside of this process, so that the caller must wait for it. */
  isRemote(ctx: Pick<TurnView, 'find' | 'clock'>): boolean {
    return this.#makeStore !== undefined || this.#sharedStore(ctx) !== undefined
  }

  slotFor(ctx: TurnView, limit: number): RateSlot {
    return { rate: this, key: this.keyOf(ctx), limit, openStore: () => this.#storeFor(ctx, limit) }
  }

  /** Consumes a slot. If there is none, returns the milliseconds until one may be free. */
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

  #ownerParts(ctx: TurnView): string[] {
    if (typeof this.#per === 'function') return [this.#per(ctx)]
    if (this.#per !== 'ip') return accountOwner(this.#name, this.#per, ctx)
    const ip = principalField(ctx.principal, 'ip') ?? principalField(ctx.context, 'ip')
    return ip === undefined ? throwMissingField(this.#name, 'ip') : [tenantOf(ctx.principal) ?? '', ip]
  }

  /** Returns the store factory, if the agent's store can count. */
  #sharedStore(ctx: Pick<TurnView, 'find' | 'clock'>): { scope: object; makeStore: MakeRateStore } | undefined {
    const { limits, ledger } = ctx.find(sharedStore) ?? {}
    if (limits !== undefined) return { scope: limits, makeStore: limits }
    return ledger === undefined ? undefined : { scope: ledger, makeStore: ledgerRateStore(ledger, ctx.clock) }
  }

  #storeFor(ctx: TurnView, limit: number): Promise<RateStore> {
    const shared = this.#makeStore === undefined ? this.#sharedStore(ctx) : undefined
    const scope = shared?.scope ?? localScope
    const stores = this.#stores.get(scope) ?? new Map<number, Promise<RateStore>>()
    this.#stores.set(scope, stores)
    const opening = stores.get(limit) ?? this.#openStore(limit, this.#makeStore ?? shared?.makeStore)
    stores.set(limit, opening)
    return opening
  }

  async #openStore(points: number, makeStore: MakeRateStore | undefined): Promise<RateStore> {
    const options = { keyPrefix: this.#name, points, duration: this.window / 1000 }
    return makeStore === undefined ? memoryRateStore(options) : makeStore(options)
  }
}

export function windowText(ms: number): string {
  const named = Object.entries(windowLengths).find(([, length]) => length === ms)
  return named === undefined ? `${ms} ms` : `a ${named[0]}`.replace('a hour', 'an hour')
}
