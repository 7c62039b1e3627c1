import { AlliumError } from '../errors/allium-error.ts'
import type { Ledger, LedgerBalance, Reservation } from './ledger.ts'

/** A ledger in this process: exact under concurrency because each post is one synchronous step. */
export function memoryLedger(): Ledger {
  const accounts = new Map<string, LedgerBalance & { open: Map<string, Reservation>; settled: Set<string> }>()
  const accountOf = (name: string) => {
    let account = accounts.get(name)
    if (account === undefined)
      accounts.set(name, (account = { spent: 0, reserved: 0, open: new Map(), settled: new Set() }))
    return account
  }
  return {
    reserve({ id, account: name, amount, limit }) {
      checkAmount(amount)
      const account = accountOf(name)
      const known = account.open.get(id)
      if (known !== undefined || account.settled.has(id)) return known ?? { id, account: name, amount }
      if (account.spent + account.reserved + amount > limit) return undefined
      const reservation = { id, account: name, amount }
      account.open.set(id, reservation)
      account.reserved += amount
      return reservation
    },
    settle({ id, account: name }, spent) {
      checkAmount(spent)
      const account = accountOf(name)
      const held = account.open.get(id)
      if (held === undefined || account.settled.has(id)) return
      account.open.delete(id)
      account.settled.add(id)
      account.reserved = account.open.size === 0 ? 0 : account.reserved - held.amount
      account.spent += spent
    },
    balance(name) {
      const { spent, reserved } = accountOf(name)
      return { spent, reserved }
    },
  }
}

function checkAmount(amount: number): void {
  if (!Number.isFinite(amount) || amount < 0)
    throw new AlliumError(
      'ledger.invalid',
      `A ledger takes amounts of 0 or more, but ${amount} was given. Check the prices and the usage.`,
    )
}
