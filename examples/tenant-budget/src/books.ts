import { type Ledger, memoryLedger } from 'allium'

export interface Books {
  ledger: Ledger
  /** Returns the charges of a tenant on the day of `now`, in USD, with one line for each physical call. */
  bill(tenantId: string, now?: number): { lines: number[]; total: number }
}

/** The account of a tenant and a day in UTC. The budget charges it, and the bill reads it. */
export function accountOf(tenantId: string, now: number): string {
  return JSON.stringify([tenantId, new Date(now).toISOString().slice(0, 10)])
}

/** A ledger that also records each charge. With several processes, store both in a database. */
export function openBooks(): Books {
  const kept = memoryLedger()
  const postings: { account: string; spent: number }[] = []
  return {
    ledger: {
      reserve: (request) => kept.reserve(request),
      balance: (account) => kept.balance(account),
      async settle(reservation, spent) {
        await kept.settle(reservation, spent)
        postings.push({ account: reservation.account, spent })
      },
    },
    bill(tenantId, now = Date.now()) {
      const account = accountOf(tenantId, now)
      const lines = postings.filter((one) => one.account === account).map(({ spent }) => spent)
      return { lines, total: lines.reduce((sum, spent) => sum + spent, 0) }
    },
  }
}
