/// <reference path="./rate-limiter-memory.d.ts" />
import type { Clock } from '@allium/core'
import type { Ledger, RateCounter, Reservation } from '@allium/store'
import { SlotBlocks } from './slot-blocks.ts'

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

/** Counts rates in a ledger: each slot is held until its window ends, in an account of that window. */
export function ledgerRateStore(ledger: Ledger, clock: Clock): MakeRateStore {
  return ({ keyPrefix, points: limit, duration }) => {
    const window = duration * 1000
    const blocks = new SlotBlocks(ledger, clock, window)
    return {
      async consume(key) {
        const now = clock.now()
        const windowStart = now - (now % window)
        const account = `${keyPrefix}:rate:${windowStart}:${key}`
        const remaining = windowStart + window - now
        const slot = await blocks.take({ account, limit, ttl: remaining, endsIn: remaining })
        if (slot === undefined) throw { msBeforeNext: remaining }
        return slot
      },
      undo: (slot) => blocks.refund(slot as Reservation),
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
