import { checkAmount, type Ledger, postedAmount } from '@allium/core'
import { checkName, month } from '@allium/store-sql'
import type { Database, Row } from './database.ts'
import type { SharedClock } from './sqlite-clock.ts'

/** Reservations of a process between one look at what is to be forgotten and the next. */
const sweepEvery = 64

/** Money in a SQLite file: each post is one transaction. Accounts whose time is over are forgotten, and posts after a month. */
export function sqliteLedger(db: Database, clock: SharedClock): Ledger {
  let untilSweep = sweepEvery

  return {
    reserve({ id, account, amount, limit, endsIn, ttl, run }) {
      checkAmount(amount)
      checkNames(account, id, run)
      const now = clock.now()
      const expires = ttl === undefined ? null : Math.ceil(now + ttl)
      return db.writeTogether(() => {
        if (untilSweep-- <= 0) sweep(now)
        if (endsIn !== undefined) end(account, Math.ceil(now + endsIn))
        const { spent, reserved, known, over } = standing(account, id, now)
        if (known !== null) {
          renew(account, id, expires)
          return { id, account, amount: Number(known) }
        }
        const freed = over === 1 ? free(account, now) : 0
        if (Number(spent) + Number(reserved) - freed + amount > limit) return undefined
        const sql = 'insert into holds (account, id, amount, at, run, expires_at) values (?, ?, ?, ?, ?, ?)'
        db.run(sql, account, id, amount, now, run ?? null, expires)
        take(account, amount)
        return { id, account, amount }
      })
    },
    settle({ id, account }, given) {
      const spent = postedAmount(given)
      checkNames(account, id)
      return db.writeTogether(() => {
        const sql =
          'update holds set settled = 1 where account = ? and id = ? and settled = 0 returning amount * (1 - freed) as held'
        const row = db.get(sql, account, id)
        if (row === undefined) return
        const post = 'update accounts set spent = spent + ?, reserved = max(0, reserved - ?) where name = ?'
        db.run(post, spent, Number(row.held), account)
      })
    },
    balance(account) {
      checkName('account', account)
      const { spent, reserved } = balanceOf(account)
      const over = db.get(
        `select coalesce(sum(amount), 0) as amount from holds where ${isOver('?', '?')}`,
        account,
        clock.now(),
      )
      return { spent, reserved: Math.max(0, reserved - Number(over?.amount)) }
    },
    holds(run) {
      checkName('run of a reservation', run)
      const rows = db.all('select id, account, amount from holds where run = ? and settled = 0', run)
      return rows.map(({ id, account, amount }) => ({
        id: String(id),
        account: String(account),
        amount: Number(amount),
      }))
    },
  }

  /** All that a reservation asks about its account. */
  function standing(account: string, id: string, now: number) {
    const sql = `select coalesce(max(spent), 0) as spent, coalesce(max(reserved), 0) as reserved,
      (select amount from holds where account = ?1 and id = ?2) as known,
      exists (select 1 from holds where ${isOver('?1', '?3')}) as over from accounts where name = ?1`
    return db.get(sql, account, id, now) as Row
  }

  function balanceOf(account: string): { spent: number; reserved: number } {
    const { spent = 0, reserved = 0 } = db.get('select spent, reserved from accounts where name = ?', account) ?? {}
    return { spent: Number(spent), reserved: Number(reserved) }
  }

  function take(account: string, amount: number): void {
    const sql = `insert into accounts (name, reserved) values (?, ?)
      on conflict do update set reserved = max(0, reserved + excluded.reserved)`
    db.run(sql, account, amount)
  }

  function end(account: string, at: number): void {
    const sql =
      'insert into accounts (name, ends_at) values (?, ?) on conflict do update set ends_at = excluded.ends_at'
    db.run(sql, account, at)
  }

  /** Asked for again: it holds its room as long again, also where that was free by now. */
  function renew(account: string, id: string, expires: number | null): void {
    const open = 'account = ? and id = ? and settled = 0'
    const freed = db.get(`select amount from holds where ${open} and freed = 1`, account, id)
    if (freed !== undefined) take(account, Number(freed.amount))
    db.run(`update holds set expires_at = ?, freed = 0 where ${open}`, expires, account, id)
  }

  /** Gives back what is held for too long: how much. */
  function free(account: string, now: number): number {
    const rows = db.all(`update holds set freed = 1 where ${isOver('?', '?')} returning amount`, account, now)
    const sum = rows.reduce((sum, { amount }) => sum + Number(amount), 0)
    if (sum !== 0) take(account, -sum)
    return sum
  }

  function sweep(now: number): void {
    untilSweep = sweepEvery
    const ended = db.all('select name from accounts where ends_at <= ? limit 100', now)
    for (const { name } of ended) {
      free(String(name), now)
      if (db.run('delete from accounts where name = ? and reserved <= 1e-9', String(name)) > 0)
        db.run('delete from holds where account = ?', String(name))
    }
    const old = 'select account, id from holds where settled = 1 and at < ? limit 100'
    db.run(`delete from holds where (account, id) in (${old})`, now - month)
  }
}

/** A hold of an account whose time is over, and whose room was not freed yet. */
const isOver = (account: string, now: string) =>
  `account = ${account} and settled = 0 and freed = 0 and expires_at <= ${now}`

/** @throws AlliumError `store.key` */
function checkNames(account: string, id: string, run = ''): void {
  checkName('account', account)
  checkName('id of a reservation', id)
  checkName('run of a reservation', run)
}
