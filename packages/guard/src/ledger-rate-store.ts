import type { Clock } from '@allium/core'
import type { Ledger, Reservation } from '@allium/store'
import type { MakeRateStore } from './rate-counter.ts'

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
