import { checkAmount, type Ledger, postedAmount } from '@allium/store'
import { checkName, checkOwner } from '@allium/store-sql'
import { batchByKey } from '../database/batch.ts'
import { checkCombinedLength } from '../database/combined-length.ts'
import type { Database } from '../database/database.ts'
import { writerSince } from '../lease/leases.ts'

/**
 * The maximum number of closed accounts that are not yet deleted in the database. Closures beyond that are dropped; those rows stay but are
 * never read.
 */
const maxClosed = 1000

/**
 * A ledger in Postgres. Each post is one idempotent function under the account's lock. Posts to an account that arrive while one is running
 * share the next statement.
 */
export function postgresLedger(db: Database): Ledger {
  const closedAccounts = new Set<string>()
  const enqueuePost = batchByKey<LedgerPost, number | undefined>((posts) => sendBatch(db, posts))
  return {
    async reserve({ id, account, amount, limit, endsIn, ttl, run, by }) {
      checkAmount(amount)
      if (by !== undefined) checkOwner(by)
      checkHoldKey(account, id)
      checkName('run of a reservation', run ?? '')
      const writerColumns = [by?.tenant ?? null, by?.owner ?? null, ...(await writerSince(db, by))]
      closedAccounts.delete(account)
      const closedNow = [...closedAccounts]
      for (const name of closedNow) closedAccounts.delete(name)
      const reservation = [limit, endsIn ?? null, closedNow, ttl ?? null, run ?? null, ...writerColumns]
      const reserved = await enqueuePost(account, { id, account, amount, reservation }).catch((error) => {
        for (const name of closedNow) closedAccounts.add(name)
        throw error
      })
      return reserved === undefined ? undefined : { id, account, amount: reserved }
    },
    async settle({ id, account }, outcome) {
      const spent = postedAmount(outcome)
      checkHoldKey(account, id)
      await enqueuePost(account, { id, account, amount: spent })
    },
    async balance(account) {
      const expiredHolds = `select coalesce(sum(amount), 0) from ${db.s}.holds
        where account = ${db.s}.digest($1) and not settled and not freed and expires_at <= ${db.s}.now_ms()`
      const sql = `select spent, reserved - (${expiredHolds}) as reserved from ${db.s}.accounts where name = ${db.s}.digest($1)`
      const [row] = await db.queryIdempotent(sql, checkName('account', account))
      return { spent: Number(row?.spent ?? 0), reserved: Number(row?.reserved ?? 0) }
    },
    async holds(run) {
      const sql = `select names, amount from ${db.s}.holds h, (select ${db.s}.digest($1) as of) r
        where hashtextextended(h.run, 0) = hashtextextended(r.of, 0) and h.run = r.of and not h.settled and h.names is not null`
      const rows = await db.queryIdempotent(sql, checkName('run of a reservation', run))
      return rows.map(({ names, amount }) => {
        const [account, id] = JSON.parse(String(names)) as [string, string]
        return { id, account, amount: Number(amount) }
      })
    },
    /** Sent with the next reservation, so that it needs no statement. */
    close(account) {
      if (closedAccounts.size < maxClosed) closedAccounts.add(checkName('account', account))
    },
  }
}

/** A reservation with its parameters, or an amount spent. */
interface LedgerPost {
  readonly id: string
  readonly account: string
  readonly amount: number
  readonly reservation?: readonly unknown[]
}

/** Posts in order in one statement. Returns the reserved amounts of reservations. */
async function sendBatch(db: Database, posts: readonly LedgerPost[]): Promise<(number | undefined)[]> {
  const [first] = posts
  if (first !== undefined && posts.length === 1) return [await sendOne(db, first)]
  const records = posts.map(({ id, account, amount, reservation }) => {
    const [limit = null, ends = null, closed = [], ttl = null, run = null, ...writerColumns] = reservation ?? []
    const [tenant = null, owner = null, lease = null, began = null] = writerColumns
    const reserves = reservation !== undefined
    return { id, account, amount, reserves, limit, ends, closed, ttl, run, tenant, owner, lease, began }
  })
  const rows = await db.queryIdempotent(
    `select case when reserves then (
       select r.amount_ from ${db.s}.reserve(id, account, amount, "limit", ends, closed, ttl, run, tenant, owner, lease, began) r
     ) else (select null::numeric from ${db.s}.settle(id, account, amount)) end as taken
     from rows from (jsonb_to_recordset($1::jsonb) as (id text, account text, amount numeric, reserves boolean,
       "limit" double precision, ends double precision, closed text[], ttl double precision, run text, tenant text,
       owner text, lease bigint, began double precision))`,
    JSON.stringify(records),
  )
  return rows.map(({ taken: reserved }) => toAmount(reserved))
}

async function sendOne(db: Database, { id, account, amount, reservation }: LedgerPost): Promise<number | undefined> {
  if (reservation === undefined) {
    await db.call('settle', id, account, amount)
    return undefined
  }
  return toAmount(await db.call('reserve', id, account, amount, ...reservation))
}

function toAmount(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

/** @throws AlliumError `store.key` */
function checkHoldKey(account: string, id: string): void {
  checkName('account', account)
  checkName('id of a reservation', id)
  checkCombinedLength('account and the id of a reservation', [account, id])
}
