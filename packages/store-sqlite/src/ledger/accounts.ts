import { month } from '@allium/store-sql'
import type { Database, Row, Value } from '../database/database.ts'

/** The digests that name a hold: of its account, and of its reservation. */
export type HoldName = readonly [account: string, id: string]

/** Why a hold could not be added. If there is no reason, the account has no room. */
export interface Obstacles {
  /** The amount of the same reservation, if it was made before. */
  readonly heldAmount: number | undefined
  /** Whether the account has expired holds that still count as reserved. */
  readonly hasExpired: boolean
  /** Whether the file remembers any erasures. */
  readonly hasErasures: boolean
}

/** The columns by which a run finds its hold: run, names, tenant, owner and token. */
export type RunColumns = readonly [Value, Value, Value, Value, number]

interface NewHold {
  readonly amount: number
  readonly limit: number
  readonly at: number
  readonly expiresAt: number | null
  /** When its account is no longer used; null leaves the end unchanged. */
  readonly endsAt: number | null
  readonly run: RunColumns
}

/** Matches an expired hold whose amount has not been freed. */
const isExpired = (account: string, now: string) =>
  `account = ${account} and settled = 0 and freed = 0 and expires_at <= ${now}`

const selectObstacles = `
  select (select amount from holds where account = ?1 and id = ?2) as held_amount,
  exists (select 1 from holds where ${isExpired('?1', '?3')}) as has_expired,
  exists (select 1 from erasures) as has_erasures`

const selectBalance = `
  select spent, reserved - (select coalesce(sum(amount), 0) from holds where ${isExpired('?1', '?2')}) as reserved
  from accounts where name = ?1`

/** Adds a hold if it fits. Expired holds count until they are freed. */
const insertHold = `
  insert into holds (account, id, amount, at, expires_at, account_ends_at, run, names, tenant, owner, token)
  select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
  where coalesce((select spent + reserved from accounts where name = ?1), 0) + ?3 <= ?12
  and (?13 or ?7 is null or not exists (select 1 from erasures)) on conflict do nothing`

const settleHold = `
  update holds set settled = 1, spent = ?, names = null, run = null, tenant = null, owner = null
  where account = ? and id = ? and settled = 0`

/** The rows of accounts and of their holds. Every method that writes runs inside a transaction. */
export class Accounts {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  obstacles(hold: HoldName, now: number): Obstacles {
    const row = this.#db.get(selectObstacles, ...hold, now) as Row
    return {
      heldAmount: row.held_amount === null ? undefined : Number(row.held_amount),
      hasExpired: row.has_expired === 1,
      hasErasures: row.has_erasures === 1,
    }
  }

  /**
   * Adds a hold if its account has room. Expired holds count until they are freed. Returns whether it was added.
   *
   * @param knowsErasures whether the caller has read the erasures; otherwise the hold of a run is only added if there are none
   */
  addHold(hold: HoldName, { amount, limit, at, expiresAt, endsAt, run }: NewHold, knowsErasures: boolean): boolean {
    const values = [...hold, amount, at, expiresAt, endsAt, ...run, limit, knowsErasures ? 1 : 0]
    return this.#db.run(insertHold, ...values) > 0
  }

  /** Renews a repeated hold for the same time, also if its amount had been freed. */
  renewHold(hold: HoldName, expiresAt: number | null): void {
    const sql = 'update holds set expires_at = ?, freed = 0 where account = ? and id = ? and settled = 0'
    this.#db.run(sql, expiresAt, ...hold)
  }

  /** Replaces a hold by the amount spent, once. */
  settleHold(hold: HoldName, spent: number): void {
    this.#db.run(settleHold, spent, ...hold)
  }

  freeExpired(account: string, now: number): void {
    this.#db.run(`update holds set freed = 1 where ${isExpired('?', '?')}`, account, now)
  }

  balance(account: string, now: number): { spent: number; reserved: number } {
    const { spent = 0, reserved = 0 } = this.#db.get(selectBalance, account, now) ?? {}
    return { spent: Number(spent), reserved: Math.max(0, Number(reserved)) }
  }

  /** Deletes some accounts that have ended, and some posts that were settled more than a month ago. */
  sweep(now: number): void {
    const endedAccounts = this.#db.all('select name from accounts where ends_at <= ? limit 100', now)
    for (const { name } of endedAccounts) {
      this.freeExpired(String(name), now)
      if (this.#db.run('delete from accounts where name = ? and reserved <= 1e-9', String(name)) > 0)
        this.#db.run('delete from holds where account = ?', String(name))
    }
    const settledHolds = 'select account, id from holds where settled = 1 and at < ? limit 100'
    this.#db.run(`delete from holds where (account, id) in (${settledHolds})`, now - month)
  }
}
