import { type Ledger, memoryLedger } from 'allium'

export interface Books {
  ledger: Ledger
  /** What was charged to a tenant on the day of `now`, in USD, a line for each physical call. */
  bill(tenantId: string, now?: number): { lines: number[]; total: number }
}

/** The account of a tenant's day, in UTC: what the budget charges, and what its bill is made of. */
export function accountOf(tenantId: string, now: number): string {
  return JSON.stringify([tenantId, new Date(now).toISOString().slice(0, 10)])
}

/** A ledger that also writes down what it was told. For several processes, one that keeps both in a database. */
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
