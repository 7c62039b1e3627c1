import type { Clock, Ledger, Reservation } from '@allium/core'
import type { MakeStore } from './rate-counter.ts'

/** Rates counted in a ledger: each place is a hold of 1 that ends with its window, in an account of the window. */
export function ledgerRates(ledger: Ledger, clock: Clock): MakeStore {
  return ({ keyPrefix, points: limit, duration }) => {
    const window = duration * 1000
    return {
      async consume(key) {
        const now = clock.now()
        const begun = now - (now % window)
        const account = `${keyPrefix}:rate:${begun}:${key}`
        const left = begun + window - now
        const request = { id: crypto.randomUUID(), account, amount: 1, limit, ttl: left, endsIn: left }
        const taken = await ledger.reserve(request)
        if (taken === undefined) throw { msBeforeNext: left }
        return taken
      },
      undo: async (taken) => ledger.settle(taken as Reservation, 0),
      async reward() {},
    }
  }
}
