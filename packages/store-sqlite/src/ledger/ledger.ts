import type { Writer } from '@allium/core'
import { checkAmount, type Ledger, postedAmount, type Reservation } from '@allium/store'
import { checkName, checkOwner, month } from '@allium/store-sql'
import type { Row, Value } from '../database/database.ts'
import type { StoreParts } from '../store-parts.ts'

/** Reservations of a process between two sweeps of expired rows. */
const reservationsPerSweep = 64

const columns = 'account, id, amount, at, expires_at, run, names, tenant, owner, token'
const noRunColumns: readonly Value[] = [null, null, null, null, 0]

/**
 * A ledger in a SQLite file; each post is one transaction. Expired accounts are deleted, and posts after a month. Accounts and holds are
 * named by digests, so that an erasure leaves the amounts but no names.
 */
export function sqliteLedger({ db, clock, erasures, writers }: StoreParts): Ledger {
  let reservationsUntilSweep = reservationsPerSweep
  const digest = (text: string) => erasures.digest(text)

  return {
    reserve({ id, account, amount, limit, endsIn, ttl, run, by }) {
      checkAmount(amount)
      checkNames(account, id, run)
      if (by !== undefined) checkOwner(by)
      const now = clock.now()
      const expiresAt = ttl === undefined ? null : Math.ceil(now + ttl)
      const reserve = (): Reservation | undefined => {
        const [accountDigest, holdDigest] = [digest(account), digest(id)]
        if (reservationsUntilSweep-- <= 0) sweep(now)
        const endsAt = endsIn === undefined ? null : Math.ceil(now + endsIn)
        const {
          spent,
          reserved,
          known: existingAmount,
          over: hasExpired,
          ends: storedEnd,
          erased,
        } = accountState(accountDigest, holdDigest, now)
        const newEnd = isSameEnd(storedEnd as number | null, endsAt) ? null : endsAt
        if (existingAmount !== null) {
          if (newEnd !== null) addReserved(accountDigest, 0, newEnd)
          renewHold(accountDigest, holdDigest, expiresAt)
          return { id, account, amount: Number(existingAmount) }
        }
        const freedAmount = hasExpired === 1 ? freeExpired(accountDigest, now) : 0
        if (Number(spent) + Number(reserved) - freedAmount + amount > limit) return undefined
        const runColumns = run === undefined ? noRunColumns : runColumnsOf(run, account, id, by, erased === 1)
        db.run(
          `insert into holds (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          accountDigest,
          holdDigest,
          amount,
          now,
          expiresAt,
          ...runColumns,
        )
        addReserved(accountDigest, amount, newEnd)
        return { id, account, amount }
      }
      // A power failure ends the process of this hold, too. Only a hold of a run is found again.
      return run === undefined ? db.writeUnsynced(reserve) : db.writeInGroup(reserve)
    },
    settle({ id, account }, outcome) {
      const spent = postedAmount(outcome)
      checkNames(account, id)
      // The turn that is stored after it syncs it. Until then, its hold counts.
      return db.writeUnsynced(() => {
        const name = digest(account)
        const sql = `update holds set settled = 1, names = null, run = null, tenant = null, owner = null
          where account = ? and id = ? and settled = 0 returning amount * (1 - freed) as held`
        const row = db.get(sql, name, digest(id))
        if (row === undefined) return
        const updateAccount = 'update accounts set spent = spent + ?, reserved = max(0, reserved - ?) where name = ?'
        db.run(updateAccount, spent, Number(row.held), name)
      })
    },
    balance(account) {
      const name = digest(checkName('account', account))
      const { spent, reserved } = balanceOf(name)
      const hasExpired = db.get(
        `select coalesce(sum(amount), 0) as amount from holds where ${isExpired('?', '?')}`,
        name,
        clock.now(),
      )
      return { spent, reserved: Math.max(0, reserved - Number(hasExpired?.amount)) }
    },
    holds(run) {
      const runDigest = digest(checkName('run of a reservation', run))
      const rows = db.all(
        'select names, amount from holds where run = ? and settled = 0 and names is not null',
        runDigest,
      )
      return rows.map(({ names, amount }) => {
        const [account, id] = JSON.parse(String(names)) as [string, string]
        return { id, account, amount: Number(amount) }
      })
    },
  }

  /** Returns the columns by which a run finds its hold, until the hold is settled. An erased owner has none. */
  function runColumnsOf(
    run: string,
    account: string,
    id: string,
    by: Writer | undefined,
    hasErasures: boolean,
  ): readonly Value[] {
    const token = by === undefined ? 0 : writers.findToken(by, by, hasErasures)
    if (token === undefined) return noRunColumns
    return [digest(run), JSON.stringify([account, id]), by?.tenant ?? null, by?.owner ?? null, token]
  }

  /** Returns everything that a reservation needs to know about its account. */
  function accountState(account: string, id: string, now: number) {
    const sql = `select coalesce(max(spent), 0) as spent, coalesce(max(reserved), 0) as reserved, max(ends_at) as ends, exists (select 1 from erasures) as erased,
      (select amount from holds where account = ?1 and id = ?2) as known,
      exists (select 1 from holds where ${isExpired('?1', '?3')}) as over from accounts where name = ?1`
    return db.get(sql, account, id, now) as Row
  }

  function balanceOf(account: string): { spent: number; reserved: number } {
    const { spent = 0, reserved = 0 } = db.get('select spent, reserved from accounts where name = ?', account) ?? {}
    return { spent: Number(spent), reserved: Number(reserved) }
  }

  /** @param endsAt when the account is no longer used @default unchanged */
  function addReserved(account: string, amount: number, endsAt: number | null = null): void {
    // Without the end of the account, so that its index is not written.
    const update = 'update accounts set reserved = max(0, reserved + ?) where name = ?'
    if (endsAt === null && db.run(update, amount, account) > 0) return
    const sql = `insert into accounts (name, reserved, ends_at) values (?, ?, ?)
      on conflict do update set reserved = max(0, reserved + excluded.reserved), ends_at = excluded.ends_at`
    db.run(sql, account, amount, endsAt)
  }

  /** Renews a repeated hold for the same time, also if its amount had been freed. */
  function renewHold(account: string, id: string, expiresAt: number | null): void {
    const open = 'account = ? and id = ? and settled = 0'
    const freedAmount = db.get(`select amount from holds where ${open} and freed = 1`, account, id)
    if (freedAmount !== undefined) addReserved(account, Number(freedAmount.amount))
    db.run(`update holds set expires_at = ?, freed = 0 where ${open}`, expiresAt, account, id)
  }

  /** Frees expired holds and returns their total amount. */
  function freeExpired(account: string, now: number): number {
    const rows = db.all(`update holds set freed = 1 where ${isExpired('?', '?')} returning amount`, account, now)
    const total = rows.reduce((total, { amount }) => total + Number(amount), 0)
    if (total !== 0) addReserved(account, -total)
    return total
  }

  function sweep(now: number): void {
    reservationsUntilSweep = reservationsPerSweep
    const endedAccounts = db.all('select name from accounts where ends_at <= ? limit 100', now)
    for (const { name } of endedAccounts) {
      freeExpired(String(name), now)
      if (db.run('delete from accounts where name = ? and reserved <= 1e-9', String(name)) > 0)
        db.run('delete from holds where account = ?', String(name))
    }
    const settledHolds = 'select account, id from holds where settled = 1 and at < ? limit 100'
    db.run(`delete from holds where (account, id) in (${settledHolds})`, now - month)
  }
}

/** The end of a window is computed from the time left, so it differs by the time that the call takes. */
const maxEndDrift = 1000

function isSameEnd(stored: number | null, endsAt: number | null): boolean {
  return stored !== null && endsAt !== null && stored >= endsAt && stored <= endsAt + maxEndDrift
}

/** Matches an expired hold whose amount has not been freed. */
const isExpired = (account: string, now: string) =>
  `account = ${account} and settled = 0 and freed = 0 and expires_at <= ${now}`

/** @throws AlliumError `store.key` */
function checkNames(account: string, id: string, run = ''): void {
  checkName('account', account)
  checkName('id of a reservation', id)
  checkName('run of a reservation', run)
}
