import type { Ledger } from '@allium/core'
import { checkAmount, checkName, checkTogether } from '@allium/store-sql'
import type { Database } from './database.ts'

/** Accounts that were closed and are not yet told to the database; one that is never told stays there, and is asked for by nobody. */
const mostClosed = 1000

/** Money in Postgres: each post is one function under the account's lock, and does nothing when it is repeated. */
export function postgresLedger(db: Database): Ledger {
  const closed = new Set<string>()
  return {
    async reserve({ id, account, amount, limit, endsIn, ttl, run }) {
      checkAmount(amount)
      checkPlace(account, id)
      closed.delete(account)
      const told = [...closed]
      const sql = `select amount_ from ${db.s}.reserve($1, $2, $3, $4, $5, $6, $7, $8)`
      const asked = [id, account, amount, limit, endsIn ?? null, told, ttl ?? null, run ?? null]
      const [row] = await db.repeatable(sql, ...asked)
      for (const name of told) closed.delete(name)
      return row === undefined || row.amount_ === null ? undefined : { id, account, amount: Number(row.amount_) }
    },
    async settle({ id, account }, spent) {
      checkAmount(spent)
      checkPlace(account, id)
      await db.repeatable(`select ${db.s}.settle($1, $2, $3)`, id, account, spent)
    },
    async balance(account) {
      const over = `select coalesce(sum(amount), 0) from ${db.s}.holds
        where account = $1 and not settled and not freed and expires_at <= ${db.s}.now_ms()`
      const sql = `select spent, reserved - (${over}) as reserved from ${db.s}.accounts where name = $1`
      const [row] = await db.repeatable(sql, checkName('account', account))
      return { spent: Number(row?.spent ?? 0), reserved: Number(row?.reserved ?? 0) }
    },
    async holds(run) {
      const sql = `select id, account, amount from ${db.s}.holds
        where hashtextextended(run, 0) = hashtextextended($1, 0) and run = $1 and not settled`
      const rows = await db.repeatable(sql, run)
      return rows.map(({ id, account, amount }) => ({
        id: String(id),
        account: String(account),
        amount: Number(amount),
      }))
    },
    /** Told with the next reservation, so that it costs no statement. */
    close(account) {
      if (closed.size < mostClosed) closed.add(checkName('account', account))
    },
  }
}

/** @throws AlliumError `store.key` */
function checkPlace(account: string, id: string): void {
  checkName('account', account)
  checkName('id of a reservation', id)
  checkTogether('account and the id of a reservation', [account, id])
}
