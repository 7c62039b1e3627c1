import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { postgres } from '../src/index.ts'
import { newPool } from './pools.ts'
import { newSchema, sql } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const url = server?.url ?? ''
afterAll(() => server?.end(), 60_000)

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
})
