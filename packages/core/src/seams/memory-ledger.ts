import { AlliumError } from '../errors/allium-error.ts'
import type { Ledger, Reservation } from './ledger.ts'

interface Account {
  spent: number
  reserved: number
  readonly open: Map<string, Reservation>
  /** Ids that were settled, so that a replay posts nothing twice; the last ones only. */
  readonly settled: Set<string>
}

export interface MemoryLedgerOptions {
  /** Accounts that are kept; the ones that were not asked for longest, and hold no reservation, go first. @default 100_000 */
  accounts?: number
  /** Settled reservations that each account remembers. @default 1_000 */
  settled?: number
}

/** A ledger in this process: exact under concurrency, because each post is one synchronous step. */
export function memoryLedger({
  accounts: most = 100_000,
  settled: remembered = 1000,
}: MemoryLedgerOptions = {}): Ledger {
  const accounts = new Map<string, Account>()

  const accountOf = (name: string): Account => {
    const account = accounts.get(name) ?? { spent: 0, reserved: 0, open: new Map(), settled: new Set() }
    accounts.delete(name)
    accounts.set(name, account)
    if (accounts.size > most) forgetOldest(accounts)
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
      if (held === undefined) return
      account.open.delete(id)
      account.settled.add(id)
      if (account.settled.size > remembered) account.settled.delete(account.settled.values().next().value as string)
      account.reserved = account.open.size === 0 ? 0 : account.reserved - held.amount
      account.spent += spent
    },
    balance(name) {
      const { spent = 0, reserved = 0 } = accounts.get(name) ?? {}
      return { spent, reserved }
    },
  }
}

function forgetOldest(accounts: Map<string, Account>): void {
  for (const [name, { open }] of accounts) {
    if (open.size > 0) continue
    accounts.delete(name)
    return
  }
}

function checkAmount(amount: number): void {
  if (!Number.isFinite(amount) || amount < 0)
    throw new AlliumError(
      'ledger.invalid',
      `A ledger takes amounts of 0 or more, but ${amount} was given. Check the prices and the usage.`,
    )
}
