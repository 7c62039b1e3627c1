import { month } from '@allium/store-sql'
import type { Database, Row, Value } from '../database/database.ts'

/** The digests that name a hold: of its account, and of its reservation. */
export type HoldName = readonly [account: string, id: string]

/** What a reservation needs to know about its account. */
export interface AccountState {
  readonly spent: number
  readonly reserved: number
  /** When the account is no longer used; null if it has no end yet. */
  readonly endsAt: number | null
  /** The amount of the same reservation, if it was made before. */
  readonly heldAmount: number | undefined
  /** Whether it has expired holds that still count as reserved. */
  readonly hasExpired: boolean
  /** Whether the file remembers any erasures. */
  readonly hasErasures: boolean
}

/** The columns by which a run finds its hold: run, names, tenant, owner and token. */
export type RunColumns = readonly [Value, Value, Value, Value, number]

interface NewHold {
  readonly amount: number
  readonly at: number
  readonly expiresAt: number | null
  readonly run: RunColumns
}

/** Matches an expired hold whose amount has not been freed. */
const isExpired = (account: string, now: string) =>
  `account = ${account} and settled = 0 and freed = 0 and expires_at <= ${now}`

const selectState = `
  select coalesce(max(spent), 0) as spent, coalesce(max(reserved), 0) as reserved, max(ends_at) as ends_at,
  (select amount from holds where account = ?1 and id = ?2) as held_amount,
  exists (select 1 from holds where ${isExpired('?1', '?3')}) as has_expired,
  exists (select 1 from erasures) as has_erasures from accounts where name = ?1`

const insertHold = `
  insert into holds (account, id, amount, at, expires_at, run, names, tenant, owner, token)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const settleHold = `
  update holds set settled = 1, names = null, run = null, tenant = null, owner = null
  where account = ? and id = ? and settled = 0 returning amount * (1 - freed) as held`

/** The rows of accounts and of their holds. Every method that writes runs inside a transaction. */
export class Accounts {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  state(hold: HoldName, now: number): AccountState {
    const row = this.#db.get(selectState, ...hold, now) as Row
    return {
      spent: Number(row.spent),
      reserved: Number(row.reserved),
      endsAt: row.ends_at as number | null,
      heldAmount: row.held_amount === null ? undefined : Number(row.held_amount),
      hasExpired: row.has_expired === 1,
      hasErasures: row.has_erasures === 1,
    }
  }

  addHold(hold: HoldName, { amount, at, expiresAt, run }: NewHold): void {
    this.#db.run(insertHold, ...hold, amount, at, expiresAt, ...run)
  }

  /** Renews a repeated hold for the same time, also if its amount had been freed. */
  renewHold(hold: HoldName, expiresAt: number | null): void {
    const open = 'account = ? and id = ? and settled = 0'
    const freed = this.#db.get(`select amount from holds where ${open} and freed = 1`, ...hold)
    if (freed !== undefined) this.addReserved(hold[0], Number(freed.amount))
    this.#db.run(`update holds set expires_at = ?, freed = 0 where ${open}`, expiresAt, ...hold)
  }

  /** Replaces a hold by the amount spent, once. */
  settleHold(hold: HoldName, spent: number): void {
    const row = this.#db.get(settleHold, ...hold)
    if (row === undefined) return
    const sql = 'update accounts set spent = spent + ?, reserved = max(0, reserved - ?) where name = ?'
    this.#db.run(sql, spent, Number(row.held), hold[0])
  }

  /** @param endsAt when the account is no longer used @default unchanged */
  addReserved(account: string, amount: number, endsAt: number | null = null): void {
    // Without the end of the account, so that its index is not written.
    const update = 'update accounts set reserved = max(0, reserved + ?) where name = ?'
    if (endsAt === null && this.#db.run(update, amount, account) > 0) return
    const sql = `insert into accounts (name, reserved, ends_at) values (?, ?, ?)
      on conflict do update set reserved = max(0, reserved + excluded.reserved), ends_at = excluded.ends_at`
    this.#db.run(sql, account, amount, endsAt)
  }

  /** Frees expired holds and returns their total amount. */
  freeExpired(account: string, now: number): number {
    const rows = this.#db.all(`update holds set freed = 1 where ${isExpired('?', '?')} returning amount`, account, now)
    const total = rows.reduce((sum, { amount }) => sum + Number(amount), 0)
    if (total !== 0) this.addReserved(account, -total)
    return total
  }

  balance(account: string, now: number): { spent: number; reserved: number } {
    const row = this.#db.get('select spent, reserved from accounts where name = ?', account)
    const sql = `select coalesce(sum(amount), 0) as amount from holds where ${isExpired('?', '?')}`
    const expired = Number(this.#db.get(sql, account, now)?.amount)
    return { spent: Number(row?.spent ?? 0), reserved: Math.max(0, Number(row?.reserved ?? 0) - expired) }
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
