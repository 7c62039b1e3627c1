import { type Clock, type Logger, systemClock } from '@allium/core'
import { checkOptions, consoleLogger, type KeysOf, safeLogger } from '@allium/core/internal'
import { checkAmount, postedAmount } from '../amount.ts'
import type { Ledger, LedgerBalance, Reservation } from '../ledger.ts'
import { MemoryAccount } from './memory-account.ts'
import { RunHolds } from './run-holds.ts'
import { SettledIds } from './settled-ids.ts'

export interface MemoryLedgerOptions {
  /**
   * How many accounts to keep before removing those whose window is over. The amount that other accounts have spent is never
   * forgotten: if there are more of them than this, the ledger logs a warning. @default 100_000
   */
  maxAccounts?: number | undefined
  /** How long a settled reservation is remembered, in milliseconds, so that a replay posts nothing twice. @default 600_000 */
  settledRetention?: number | undefined
  /** Maximum settled reservations to remember, over all accounts; half of them if the rest is much older. @default 200_000 */
  maxSettled?: number | undefined
  clock?: Pick<Clock, 'now'> | undefined
  /** @default the console */
  logger?: Logger | undefined
}

const optionKeys: KeysOf<MemoryLedgerOptions> = {
  maxAccounts: true,
  settledRetention: true,
  maxSettled: true,
  clock: true,
  logger: true,
}

/** A ledger in this process. It is exact under concurrency, because each post is synchronous. */
export function memoryLedger(options: MemoryLedgerOptions = {}): Ledger {
  checkOptions(options, optionKeys, 'memoryLedger()', 'options.invalid')
  const ledger = new MemoryLedger(options)
  return {
    reserve: (request) => ledger.reserve(request),
    settle: (reservation, spent) => ledger.settle(reservation, spent),
    balance: (account) => ledger.balance(account),
    holds: (run) => ledger.holds.of(run),
    close: (account) => ledger.close(account),
  }
}

class MemoryLedger {
  readonly holds = new RunHolds()
  readonly #accounts = new Map<string, MemoryAccount>()
  readonly #settled: SettledIds
  readonly #clock: Pick<Clock, 'now'>
  readonly #warn: (message: string) => void
  /** How many accounts are kept before some are removed. */
  readonly #maxAccounts: number
  #sweepAt: number
  #warnAt: number

  constructor(options: MemoryLedgerOptions) {
    const { maxAccounts = 100_000, settledRetention = 600_000, maxSettled = 200_000 } = options
    const { clock = systemClock, logger = consoleLogger } = options
    this.#settled = new SettledIds(settledRetention, maxSettled)
    this.#clock = clock
    this.#warn = safeLogger(logger).warn
    this.#maxAccounts = maxAccounts
    this.#sweepAt = maxAccounts
    this.#warnAt = maxAccounts
  }

  reserve(request: Parameters<Ledger['reserve']>[0]): Reservation | undefined {
    const { id, account: name, amount, limit, endsIn, ttl, run } = request
    checkAmount(amount)
    const account = this.#accountOf(name)
    const now = this.#clock.now()
    if (endsIn !== undefined) account.endsAt = now + endsIn
    const expiresAt = ttl === undefined ? Number.POSITIVE_INFINITY : now + ttl
    const held = account.find(id)
    if (held !== undefined) {
      account.renew(held, expiresAt)
      return held.reservation
    }
    const reservation = { id, account: name, amount }
    if (this.#settled.has(id, name, now)) return reservation
    account.free(now)
    if (account.spent + account.reserved + amount > limit) return undefined
    const hold = { reservation, run, expiresAt }
    account.hold(hold)
    this.holds.add(hold)
    return reservation
  }

  settle({ id, account: name }: Reservation, outcome: number): void {
    const spent = postedAmount(outcome)
    const account = this.#accounts.get(name)
    const held = account?.find(id)
    if (account === undefined || held === undefined) return
    account.settle(held, spent)
    this.holds.delete(held)
    this.#settled.add(id, name, this.#clock.now())
    if (account.endsAt === closed && !account.isHeld) this.#forget(name, account)
  }

  balance(name: string): LedgerBalance {
    const account = this.#accounts.get(name)
    account?.free(this.#clock.now())
    const { spent = 0, reserved = 0 } = account ?? {}
    return { spent, reserved }
  }

  close(name: string): void {
    const account = this.#accounts.get(name)
    if (account === undefined) return
    account.endsAt = closed
    if (!account.isHeld) this.#forget(name, account)
  }

  #accountOf(name: string): MemoryAccount {
    let account = this.#accounts.get(name)
    if (account === undefined) {
      if (this.#accounts.size > this.#sweepAt) this.#sweep()
      account = new MemoryAccount()
      this.#accounts.set(name, account)
    }
    return account
  }

  /** Removes accounts. Runs only after many new accounts, so that the average cost of a post stays low. */
  #sweep(): void {
    const now = this.#clock.now()
    for (const [name, account] of this.#accounts) {
      account.free(now)
      const isOver = account.endsAt <= now && !account.isHeld
      if (isOver || (account.spent === 0 && !account.isOwed)) this.#forget(name, account)
    }
    const { size } = this.#accounts
    this.#sweepAt = Math.max(this.#maxAccounts, Math.ceil(size * 1.25))
    if (size <= this.#warnAt) return
    this.#warn(
      `memoryLedger() has ${size} accounts with spending, which it never removes. It is meant for at most ${this.#maxAccounts}. Give the budget a window, so that its accounts expire, or a ledger outside of this process; or raise memoryLedger({ accounts }).`,
    )
    this.#warnAt = size * 2 - 1
  }

  #forget(name: string, account: MemoryAccount): void {
    this.#accounts.delete(name)
    for (const hold of account.late) this.holds.delete(hold)
  }
}

const closed = Number.NEGATIVE_INFINITY
