import { type Clock, type Logger, systemClock } from '@allium/core'
import { checkOptions, consoleLogger, type KeysOf, safeLogger } from '@allium/core/internal'
import { checkAmount, postedAmount } from './amount.ts'

import type { Ledger } from './ledger.ts'

import { type Hold, MemoryAccount } from './memory-account.ts'
import { SettledIds } from './settled-ids.ts'

export interface MemoryLedgerOptions {
  /**
   * How many accounts to keep before removing those whose window is over. The amount that other accounts have spent is never
   * forgotten: if there are more of them than this, the ledger logs a warning. @default 100_000
   */
  accounts?: number | undefined
  /** How long a settled reservation is remembered, in milliseconds, so that a replay posts nothing twice. @default 600_000 */
  settledFor?: number | undefined
  /** Maximum settled reservations to remember, over all accounts; half of them if the rest is much older. @default 200_000 */
  settled?: number | undefined
  clock?: Pick<Clock, 'now'> | undefined
  /** @default the console */
  logger?: Logger | undefined
}

const known: KeysOf<MemoryLedgerOptions> = {
  accounts: true,
  settledFor: true,
  settled: true,
  clock: true,
  logger: true,
}

/** A ledger in this process. It is exact under concurrency, because each post is synchronous. */
export function memoryLedger(options: MemoryLedgerOptions = {}): Ledger {
  checkOptions(options, known, 'memoryLedger()', 'options.invalid')
  const { accounts: most = 100_000, settledFor = 600_000, settled = 200_000 } = options
  const { clock = systemClock, logger = consoleLogger } = options
  const accounts = new Map<string, MemoryAccount>()
  const runs = new Map<string, Set<Hold>>()
  const done = new SettledIds(settledFor, settled)
  const { warn } = safeLogger(logger)
  let sweepAt = most
  let warnAt = most

  /** Removes accounts. Runs only after many new accounts, so that the average cost of a post stays low. */
  const sweep = () => {
    const now = clock.now()
    for (const [name, account] of accounts) {
      account.free(now)
      const isOver = account.endsAt <= now && !account.isHeld
      if (isOver || (account.spent === 0 && !account.isOwed)) forget(name, account)
    }
    sweepAt = Math.max(most, Math.ceil(accounts.size * 1.25))
    if (accounts.size <= warnAt) return
    warn(
      `memoryLedger() has ${accounts.size} accounts with spending, which it never removes. It is meant for at most ${most}. Give the budget a window, so that its accounts expire, or a ledger outside of this process; or raise memoryLedger({ accounts }).`,
    )
    warnAt = accounts.size * 2 - 1
  }

  const forget = (name: string, account: MemoryAccount) => {
    accounts.delete(name)
    for (const hold of account.late) unlist(hold)
  }

  const list = (hold: Hold) => {
    if (hold.run === undefined) return
    const holds = runs.get(hold.run)
    if (holds === undefined) runs.set(hold.run, new Set([hold]))
    else holds.add(hold)
  }
  const unlist = (hold: Hold) => {
    if (hold.run === undefined) return
    const holds = runs.get(hold.run)
    holds?.delete(hold)
    if (holds?.size === 0) runs.delete(hold.run)
  }

  const accountOf = (name: string): MemoryAccount => {
    let account = accounts.get(name)
    if (account === undefined) {
      if (accounts.size > sweepAt) sweep()
      account = new MemoryAccount()
      accounts.set(name, account)
    }
    return account
  }

  return {
    reserve({ id, account: name, amount, limit, endsIn, ttl, run }) {
      checkAmount(amount)
      const account = accountOf(name)
      const now = clock.now()
      if (endsIn !== undefined) account.endsAt = now + endsIn
      const expiresAt = ttl === undefined ? Number.POSITIVE_INFINITY : now + ttl
      const known = account.find(id)
      if (known !== undefined) {
        account.renew(known, expiresAt)
        return known.reservation
      }
      const reservation = { id, account: name, amount }
      if (done.has(id, name, now)) return reservation
      account.free(now)
      if (account.spent + account.reserved + amount > limit) return undefined
      const hold = { reservation, run, expiresAt }
      account.hold(hold)
      list(hold)
      return reservation
    },
    settle({ id, account: name }, given) {
      const spent = postedAmount(given)
      const account = accounts.get(name)
      const held = account?.find(id)
      if (account === undefined || held === undefined) return
      account.settle(held, spent)
      unlist(held)
      done.add(id, name, clock.now())
      if (account.endsAt === closed && !account.isHeld) forget(name, account)
    },
    balance(name) {
      const account = accounts.get(name)
      account?.free(clock.now())
      const { spent = 0, reserved = 0 } = account ?? {}
      return { spent, reserved }
    },
    holds(run) {
      return [...(runs.get(run) ?? [])].map(({ reservation }) => reservation)
    },
    close(name) {
      const account = accounts.get(name)
      if (account === undefined) return
      account.endsAt = closed
      if (!account.isHeld) forget(name, account)
    },
  }
}

const closed = Number.NEGATIVE_INFINITY
