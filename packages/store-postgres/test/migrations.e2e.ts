import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { postgres } from '../src/index.ts'
import { Schema } from '../src/schema/schema.ts'
import { versions } from '../src/schema/versions.ts'
import { postgresSql } from '../src/sql.ts'
import { newPool } from './pools.ts'
import { failure } from './samples.ts'
import { newSchema, sql, storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const url = server?.url ?? ''
const stores = storesAt(url)
afterAll(async () => {
  await stores.end()
  await server?.end()
})

const addColumn = "alter table {s}.accounts add column currency text not null default 'EUR';"

/** Brings a schema to a version that follows the latest one. */
async function toNextVersion(schema: string): Promise<void> {
  const client = await newPool(url).connect()
  await new Schema(schema, 'auto', [...versions, addColumn]).prepare(client).finally(() => client.release())
}

/** Milliseconds after which the pool, and the server, give up on any other statement. */
const short = 200

describe.skipIf(server === undefined)('the schema of postgres()', () => {
  it('is migrated however long that takes, also longer than the timeouts of the pool and of its role', async () => {
    const [schema, options] = [newSchema(), `-c statement_timeout=${short} -c lock_timeout=${short}`]
    const pool = newPool(url, { query_timeout: short, options, application_name: schema })
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    await holder.query('select pg_advisory_lock(hashtextextended($1, 0))', [`allium ${schema}`])
    const store = postgres({ pool, schema })
    const ready = store.ready()
    ready.catch(() => {})
    const waited = `select from pg_stat_activity where application_name = $1 and wait_event = 'advisory'
      and clock_timestamp() - query_start > make_interval(secs => $2)`
    await expect.poll(() => sql(url, waited, [schema, (short * 3) / 1000]), { timeout: 15_000 }).toHaveLength(1)
    await holder.end()
    await ready
    expect(await store.sessions.list({ tenant: 'acme', limit: 1 })).toEqual({ items: [] })
    if (url === process.env.DATABASE_URL) await sql(url, `drop schema "${schema}" cascade`)
  })

  it('is brought from version 1 to the next version, with the money that it holds', async () => {
    const store = stores.fresh()
    const schema = stores.schemaOf(store)
    await store.ledger.reserve({ id: 'a', account: 'acme', amount: 3, limit: 4, ttl: 1000, run: 'r' })
    await store.ledger.settle({ id: 'a', account: 'acme', amount: 3 }, 3)
    await toNextVersion(schema)
    expect(await sql(url, `select spent, currency from "${schema}".accounts`)).toEqual([
      { spent: '3', currency: 'EUR' },
    ])
    const error = await failure(() => stores.again(store).ready())
    expect([error.code, error.message]).toEqual([
      'store.corrupt',
      expect.stringContaining('has version 2, but this version of Allium supports at most 1'),
    ])
  })

  it('is created at the latest version, also if that is not the first', async () => {
    const schema = stores.schemaOf(stores.fresh())
    await toNextVersion(schema)
    expect(await sql(url, `select version from "${schema}".schema_version`)).toEqual([{ version: 2 }])
  })

  it.each([
    ['tables of the same names', 'drop table {s}.schema_version, {s}.erasures'],
    ['a version, but not its tables', 'drop table {s}.erasures'],
    ['a newer version', 'update {s}.schema_version set version = 18'],
  ])('is left as it is and says what to do if it has %s', async (_, change) => {
    const store = stores.fresh()
    const schema = stores.schemaOf(store)
    await sql(url, postgresSql({ schema }))
    await sql(url, change.replaceAll('{s}', `"${schema}"`))
    const error = await failure(() => store.ready())
    expect([error.code, error.message]).toEqual(['store.corrupt', expect.stringContaining('another "schema"')])
  })
})
