import { checkAmount, type Ledger, postedAmount } from '@allium/core'
import { checkName, checkOwner, checkTogether } from '@allium/store-sql'
import type { Database } from './database.ts'
import { since } from './leases.ts'
import { together } from './together.ts'

/** Accounts that were closed and are not yet told to the database; one that is never told stays there, and is asked for by nobody. */
const mostClosed = 1000

/**
 * Money in Postgres: each post is one function under the account's lock, and does nothing when it is repeated. Those of one
 * account that come while one is under way share the next statement.
 */
export function postgresLedger(db: Database): Ledger {
  const closed = new Set<string>()
  const post = together<Post, number | undefined>((posts) => sent(db, posts))
  return {
    async reserve({ id, account, amount, limit, endsIn, ttl, run, by }) {
      checkAmount(amount)
      if (by !== undefined) checkOwner(by)
      checkPlace(account, id)
      checkName('run of a reservation', run ?? '')
      const writer = [by?.tenant ?? null, by?.owner ?? null, ...(await since(db, by))]
      closed.delete(account)
      const told = [...closed]
      for (const name of told) closed.delete(name)
      const asked = [limit, endsIn ?? null, told, ttl ?? null, run ?? null, ...writer]
      const taken = await post(account, { id, account, amount, asked }).catch((error) => {
        for (const name of told) closed.add(name)
        throw error
      })
      return taken === undefined ? undefined : { id, account, amount: taken }
    },
    async settle({ id, account }, given) {
      const spent = postedAmount(given)
      checkPlace(account, id)
      await post(account, { id, account, amount: spent })
    },
    async balance(account) {
      const over = `select coalesce(sum(amount), 0) from ${db.s}.holds
        where account = ${db.s}.digest($1) and not settled and not freed and expires_at <= ${db.s}.now_ms()`
      const sql = `select spent, reserved - (${over}) as reserved from ${db.s}.accounts where name = ${db.s}.digest($1)`
      const [row] = await db.repeatable(sql, checkName('account', account))
      return { spent: Number(row?.spent ?? 0), reserved: Number(row?.reserved ?? 0) }
    },
    async holds(run) {
      const sql = `select place, amount from ${db.s}.holds h, (select ${db.s}.digest($1) as of) r
        where hashtextextended(h.run, 0) = hashtextextended(r.of, 0) and h.run = r.of and not h.settled and h.place is not null`
      const rows = await db.repeatable(sql, checkName('run of a reservation', run))
      return rows.map(({ place, amount }) => {
        const [account, id] = JSON.parse(String(place)) as [string, string]
        return { id, account, amount: Number(amount) }
      })
    },
    /** Told with the next reservation, so that it costs no statement. */
    close(account) {
      if (closed.size < mostClosed) closed.add(checkName('account', account))
    },
  }
}

/** A reservation with what else is asked of it, or what one has spent. */
interface Post {
  readonly id: string
  readonly account: string
  readonly amount: number
  readonly asked?: readonly unknown[]
}

/** In the order in which they were asked, in one statement; what was taken, of those that reserve. */
async function sent(db: Database, posts: readonly Post[]): Promise<(number | undefined)[]> {
  const [first] = posts
  if (first !== undefined && posts.length === 1) return [await sentAlone(db, first)]
  const asked = posts.map(({ id, account, amount, asked }) => {
    const [limit = null, ends = null, closed = [], ttl = null, run = null, ...writer] = asked ?? []
    const [tenant = null, owner = null, lease = null, began = null] = writer
    const reserves = asked !== undefined
    return { id, account, amount, reserves, limit, ends, closed, ttl, run, tenant, owner, lease, began }
  })
  const rows = await db.repeatable(
    `select case when reserves then (
       select r.amount_ from ${db.s}.reserve(id, account, amount, "limit", ends, closed, ttl, run, tenant, owner, lease, began) r
     ) else (select null::numeric from ${db.s}.settle(id, account, amount)) end as taken
     from rows from (jsonb_to_recordset($1::jsonb) as (id text, account text, amount numeric, reserves boolean,
       "limit" double precision, ends double precision, closed text[], ttl double precision, run text, tenant text,
       owner text, lease bigint, began double precision))`,
    JSON.stringify(asked),
  )
  return rows.map(({ taken }) => amountIn(taken))
}

async function sentAlone(db: Database, { id, account, amount, asked }: Post): Promise<number | undefined> {
  if (asked === undefined) {
    await db.repeatable(`select ${db.s}.settle($1, $2, $3)`, id, account, amount)
    return undefined
  }
  const sql = `select amount_ from ${db.s}.reserve($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
  const [row] = await db.repeatable(sql, id, account, amount, ...asked)
  return amountIn(row?.amount_)
}

function amountIn(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

/** @throws AlliumError `store.key` */
function checkPlace(account: string, id: string): void {
  checkName('account', account)
  checkName('id of a reservation', id)
  checkTogether('account and the id of a reservation', [account, id])
}
