import { checkAmount, type Ledger, postedAmount, type Writer } from '@allium/core'
import { checkName, checkOwner, month } from '@allium/store-sql'
import type { Row, Value } from './database.ts'
import type { Parts } from './lists.ts'

/** Reservations of a process between one look at what is to be forgotten and the next. */
const sweepEvery = 64

const columns = 'account, id, amount, at, expires_at, run, place, tenant, owner, token'
const nobody: readonly Value[] = [null, null, null, null, 0]

/**
 * Money in a SQLite file: each post is one transaction. Accounts whose time is over are forgotten, and posts after a month. Accounts and
 * holds are named by digests, so that an erasure leaves what was spent, and nobody's name.
 */
export function sqliteLedger({ db, clock, erasures, leases }: Parts): Ledger {
  let untilSweep = sweepEvery
  const digest = (text: string) => erasures.digest(text)

  return {
    reserve({ id, account, amount, limit, endsIn, ttl, run, by }) {
      checkAmount(amount)
      checkNames(account, id, run)
      if (by !== undefined) checkOwner(by)
      const now = clock.now()
      const expires = ttl === undefined ? null : Math.ceil(now + ttl)
      return db.writeTogether(() => {
        const [name, hold] = [digest(account), digest(id)]
        if (untilSweep-- <= 0) sweep(now)
        if (endsIn !== undefined) end(name, Math.ceil(now + endsIn))
        const { spent, reserved, known, over } = standing(name, hold, now)
        if (known !== null) {
          renew(name, hold, expires)
          return { id, account, amount: Number(known) }
        }
        const freed = over === 1 ? free(name, now) : 0
        if (Number(spent) + Number(reserved) - freed + amount > limit) return undefined
        const found =
          run === undefined || (by && erasures.fences(by, by, leases)) ? nobody : foundBy(run, account, id, by)
        db.run(
          `insert into holds (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          name,
          hold,
          amount,
          now,
          expires,
          ...found,
        )
        take(name, amount)
        return { id, account, amount }
      })
    },
    settle({ id, account }, given) {
      const spent = postedAmount(given)
      checkNames(account, id)
      return db.writeTogether(() => {
        const name = digest(account)
        const sql = `update holds set settled = 1, place = null, run = null, tenant = null, owner = null
          where account = ? and id = ? and settled = 0 returning amount * (1 - freed) as held`
        const row = db.get(sql, name, digest(id))
        if (row === undefined) return
        const post = 'update accounts set spent = spent + ?, reserved = max(0, reserved - ?) where name = ?'
        db.run(post, spent, Number(row.held), name)
      })
    },
    balance(account) {
      const name = digest(checkName('account', account))
      const { spent, reserved } = balanceOf(name)
      const over = db.get(
        `select coalesce(sum(amount), 0) as amount from holds where ${isOver('?', '?')}`,
        name,
        clock.now(),
      )
      return { spent, reserved: Math.max(0, reserved - Number(over?.amount)) }
    },
    holds(run) {
      const of = digest(checkName('run of a reservation', run))
      const rows = db.all('select place, amount from holds where run = ? and settled = 0 and place is not null', of)
      return rows.map(({ place, amount }) => {
        const [account, id] = JSON.parse(String(place)) as [string, string]
        return { id, account, amount: Number(amount) }
      })
    },
  }

  /** What a run finds its hold by, until that is settled or its owner is erased. */
  function foundBy(run: string, account: string, id: string, by: Writer | undefined): Value[] {
    const token = by === undefined ? 0 : erasures.tokenOf(by, by, leases)
    return [digest(run), JSON.stringify([account, id]), by?.tenant ?? null, by?.owner ?? null, token]
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
    const sql = `insert into accounts (name, reserved, digested) values (?, ?, 1)
      on conflict do update set reserved = max(0, reserved + excluded.reserved)`
    db.run(sql, account, amount)
  }

  function end(account: string, at: number): void {
    const sql =
      'insert into accounts (name, ends_at, digested) values (?, ?, 1) on conflict do update set ends_at = excluded.ends_at'
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
