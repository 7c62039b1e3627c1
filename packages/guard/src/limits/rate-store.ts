/// <reference path="./rate-limiter-memory.d.ts" />
import type { Clock } from '@allium/core'
import type { Ledger, RateCounter, Reservation } from '@allium/store'

/** The part of a rate-limiter-flexible limiter that is used. */
export interface RateStore extends RateCounter {
  /** Refunds what `consume` returned, for stores that need more than the key. */
  undo?(receipt: unknown): Promise<unknown>
}

/** Creates the store of a rate. */
export type MakeRateStore = (options: RateStoreOptions) => RateStore

interface RateStoreOptions {
  keyPrefix: string
  points: number
  /** Seconds. */
  duration: number
}

/** Counts rates in a ledger: each slot is a hold of 1 that ends with its window, in an account of that window. */
export function ledgerRateStore(ledger: Ledger, clock: Clock): MakeRateStore {
  return ({ keyPrefix, points: limit, duration }) => {
    const window = duration * 1000
    return {
      async consume(key) {
        const now = clock.now()
        const windowStart = now - (now % window)
        const account = `${keyPrefix}:rate:${windowStart}:${key}`
        const remaining = windowStart + window - now
        const request = { id: crypto.randomUUID(), account, amount: 1, limit, ttl: remaining, endsIn: remaining }
        const reservation = await ledger.reserve(request)
        if (reservation === undefined) throw { msBeforeNext: remaining }
        return reservation
      },
      undo: async (reservation) => ledger.settle(reservation as Reservation, 0),
      async reward() {},
    }
  }
}

/** Counts rates in this process. */
export async function memoryRateStore(options: RateStoreOptions): Promise<RateStore> {
  // Not the package's index, which loads a driver for each database.
  const { default: RateLimiterMemory } = await import('rate-limiter-flexible/lib/RateLimiterMemory.js')
  return new RateLimiterMemory(options)
}
