import { AlliumError } from '../errors/allium-error.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Ledger, Reservation } from './ledger.ts'
import { consoleLogger, type Logger, safeLogger } from './logger.ts'
import { SettledIds } from './settled-ids.ts'

interface Account {
  spent: number
  reserved: number
  /** From then on nobody asks for it. */
  endsAt: number
  open: Map<string, Reservation> | undefined
}

export interface MemoryLedgerOptions {
  /**
   * Accounts from which on those go whose window is over. What another one has spent is never forgotten: where there are more
   * of these, a warning says so. @default 100_000
   */
  accounts?: number | undefined
  /** Milliseconds for which a settled call is known again, so that a replay posts nothing twice. @default 600_000 */
  settledFor?: number | undefined
  /** Settled calls that are known at the most, over all accounts; half of them where the others came long before. @default 200_000 */
  settled?: number | undefined
  clock?: Pick<Clock, 'now'> | undefined
  /** @default the console */
  logger?: Logger | undefined
}

/** A ledger in this process: exact under concurrency, because each post is one synchronous step. */
export function memoryLedger({
  accounts: most = 100_000,
  settledFor = 600_000,
  settled = 200_000,
  clock = systemClock,
  logger = consoleLogger,
}: MemoryLedgerOptions = {}): Ledger {
  const accounts = new Map<string, Account>()
  const done = new SettledIds(settledFor, settled)
  const { warn } = safeLogger(logger)
  let sweepAt = most
  let warnAt = most

  /** Each look at all accounts is paid by as many new ones, so that a post is cheap. */
  const sweep = () => {
    const now = clock.now()
    for (const [name, { endsAt, open, spent }] of accounts)
      if ((endsAt <= now || spent === 0) && open === undefined) accounts.delete(name)
    sweepAt = Math.max(most, Math.ceil(accounts.size * 1.25))
    if (accounts.size <= warnAt) return
    warn(
      `memoryLedger() holds ${accounts.size} accounts that have spent money, and forgets none of them: it was meant for ${most}. Give the budget a window, whose accounts end, or a ledger outside of this process; or raise memoryLedger({ accounts }).`,
    )
    warnAt = accounts.size * 2 - 1
  }

  const accountOf = (name: string): Account => {
    let account = accounts.get(name)
    if (account === undefined) {
      if (accounts.size > sweepAt) sweep()
      account = { spent: 0, reserved: 0, endsAt: Number.POSITIVE_INFINITY, open: undefined }
      accounts.set(name, account)
    }
    return account
  }

  return {
    reserve({ id, account: name, amount, limit, endsIn }) {
      checkAmount(amount)
      const account = accountOf(name)
      if (endsIn !== undefined) account.endsAt = clock.now() + endsIn
      const known = account.open?.get(id)
      if (known !== undefined || done.has(id, name, clock.now())) return known ?? { id, account: name, amount }
      if (account.spent + account.reserved + amount > limit) return undefined
      const reservation = { id, account: name, amount }
      account.open ??= new Map()
      account.open.set(id, reservation)
      account.reserved += amount
      return reservation
    },
    settle({ id, account: name }, spent) {
      checkAmount(spent)
      const account = accounts.get(name)
      const held = account?.open?.get(id)
      if (account?.open === undefined || held === undefined) return
      account.open.delete(id)
      done.add(id, name, clock.now())
      account.reserved -= held.amount
      account.spent += spent
      if (account.open.size > 0) return
      account.open = undefined
      account.reserved = 0
      if (account.endsAt === closed) accounts.delete(name)
    },
    balance(name) {
      const { spent = 0, reserved = 0 } = accounts.get(name) ?? {}
      return { spent, reserved }
    },
    close(name) {
      const account = accounts.get(name)
      if (account === undefined) return
      account.endsAt = closed
      if (account.open === undefined) accounts.delete(name)
    },
  }
}

const closed = Number.NEGATIVE_INFINITY

function checkAmount(amount: number): void {
  if (!Number.isFinite(amount) || amount < 0)
    throw new AlliumError(
      'ledger.invalid',
      `A ledger takes amounts of 0 or more, but ${amount} was given. Check the prices and the usage.`,
    )
}
