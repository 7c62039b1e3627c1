import { checkAmount, type Ledger, type LedgerBalance, postedAmount, type Reservation } from '@allium/store'
import { checkName, checkOwner } from '@allium/store-sql'
import type { Database } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import type { ErasureLog } from '../lease/erasure-log.ts'
import type { Writers } from '../lease/writers.ts'
import type { StoreParts } from '../store-parts.ts'
import { Accounts, type HoldName, type RunColumns } from './accounts.ts'

type ReserveRequest = Parameters<Ledger['reserve']>[0]

/** Reservations of a process between two sweeps of expired rows. */
const reservationsPerSweep = 64

const noRunColumns: RunColumns = [null, null, null, null, 0]

/**
 * A ledger in a SQLite file; each post is one transaction. Expired accounts are deleted, and posts after a month. Accounts and holds are
 * named by digests, so that an erasure leaves the amounts but no names.
 */
export function sqliteLedger(parts: StoreParts): Ledger {
  const ledger = new SqliteLedger(parts)
  return {
    reserve: (request) => ledger.reserve(request),
    settle: (reservation, spent) => ledger.settle(reservation, spent),
    settleSoon: (reservation, spent) => ledger.settleSoon(reservation, spent),
    balance: (account) => ledger.balance(account),
    holds: (run) => ledger.holds(run),
  }
}

class SqliteLedger {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #erasures: ErasureLog
  readonly #writers: Writers
  readonly #accounts: Accounts
  #reservationsUntilSweep = reservationsPerSweep

  constructor({ db, clock, erasures, writers }: StoreParts) {
    this.#db = db
    this.#clock = clock
    this.#erasures = erasures
    this.#writers = writers
    this.#accounts = new Accounts(db)
  }

  reserve(request: ReserveRequest): Promise<Reservation | undefined> {
    const { id, account, amount, run, by } = request
    checkAmount(amount)
    checkNames(account, id, run)
    if (by !== undefined) checkOwner(by)
    const now = this.#clock.now()
    const reserve = () => this.#reserve(request, now)
    // A power failure ends the process of this hold, too. Only a hold of a run is found again.
    return run === undefined ? this.#db.writeUnsynced(reserve) : this.#db.writeInGroup(reserve)
  }

  settle(reservation: Reservation, spent: number): Promise<void> {
    // The turn that is stored after it syncs it. Until then, its hold counts.
    return this.#db.writeUnsynced(this.#settlement(reservation, spent))
  }

  settleSoon(reservation: Reservation, spent: number): Promise<void> {
    return this.#db.writeBeforeNext(this.#settlement(reservation, spent))
  }

  balance(account: string): LedgerBalance {
    this.#db.flush()
    return this.#accounts.balance(this.#erasures.digest(checkName('account', account)), this.#clock.now())
  }

  holds(run: string): Reservation[] {
    this.#db.flush()
    const sql = 'select names, amount from holds where run = ? and settled = 0 and names is not null'
    const rows = this.#db.all(sql, this.#erasures.digest(checkName('run of a reservation', run)))
    return rows.map(({ names, amount }) => {
      const [account, id] = JSON.parse(String(names)) as [string, string]
      return { id, account, amount: Number(amount) }
    })
  }

  #settlement({ id, account }: Reservation, outcome: number): () => void {
    const spent = postedAmount(outcome)
    checkNames(account, id)
    return () => this.#accounts.settleHold(this.#holdName(account, id), spent)
  }

  #reserve(request: ReserveRequest, now: number): Reservation | undefined {
    const { id, account, amount, limit } = request
    this.#sweepSometimes(now)
    const hold = this.#holdName(account, id)
    const newHold = {
      amount,
      limit,
      at: now,
      expiresAt: timeAfter(now, request.ttl),
      endsAt: timeAfter(now, request.endsIn),
      run: this.#runColumns(request, false),
    }
    if (this.#accounts.addHold(hold, newHold, false)) return { id, account, amount }
    const { heldAmount, hasExpired, hasErasures } = this.#accounts.obstacles(hold, now)
    if (heldAmount !== undefined) {
      this.#accounts.renewHold(hold, newHold.expiresAt)
      return { id, account, amount: heldAmount }
    }
    if (!hasExpired && !hasErasures) return undefined
    this.#accounts.freeExpired(hold[0], now)
    const run = hasErasures ? this.#runColumns(request, true) : newHold.run
    return this.#accounts.addHold(hold, { ...newHold, run }, true) ? { id, account, amount } : undefined
  }

  /** Returns the columns by which a run finds its hold, until the hold is settled. An erased owner has none. */
  #runColumns({ run, account, id, by }: ReserveRequest, hasErasures: boolean): RunColumns {
    if (run === undefined) return noRunColumns
    const token = by === undefined ? 0 : this.#writers.findToken(by, by, hasErasures)
    if (token === undefined) return noRunColumns
    const names = JSON.stringify([account, id])
    return [this.#erasures.digest(run), names, by?.tenant ?? null, by?.owner ?? null, token]
  }

  #sweepSometimes(now: number): void {
    if (this.#reservationsUntilSweep-- > 0) return
    this.#reservationsUntilSweep = reservationsPerSweep
    this.#accounts.sweep(now)
  }

  #holdName(account: string, id: string): HoldName {
    return [this.#erasures.digest(account), this.#erasures.digest(id)]
  }
}

function timeAfter(now: number, ms: number | undefined): number | null {
  return ms === undefined ? null : Math.ceil(now + ms)
}

/** @throws AlliumError `store.key` */
function checkNames(account: string, id: string, run = ''): void {
  checkName('account', account)
  checkName('id of a reservation', id)
  checkName('run of a reservation', run)
}
