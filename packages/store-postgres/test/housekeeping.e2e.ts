import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const url = server?.url ?? ''
const stores = storesAt(url)
const client = new pg.Client({ connectionString: url })
if (server !== undefined) await client.connect()
afterAll(async () => {
  await client.end()
  await stores.end()
  await server?.end()
})

/** Rows that nothing may delete yet. */
const rows = `generate_series(1, 20000) i`
const later = `{s}.now_ms() + 1e9`

/** What deletes expired rows: a call, and a statement that adds rows that have not expired. */
const cases = [
  {
    title: 'the end of a run',
    call: `{s}.append_to_run('acme', 'ann', 'agent', 's', 't{n}', 1, 'r', 'id', 1, '\\x00', true, 3600000, null, 0)`,
    add: `insert into {s}.event_runs (tenant, owner, agent, session, turn_id, epoch, touched_at, ended_at)
      select 'acme', 'ann', 'agent', 's', 'old' || i, 1, {s}.now_ms(), {s}.now_ms() from ${rows}`,
  },
  {
    title: 'a cached value',
    call: `{s}.set_value('k{n}', '\\x00', 1000000, null, null, null, 0)`,
    add: `insert into {s}.key_values (key, value, expires_at) select 'old' || i, '\\x00', ${later} from ${rows}`,
  },
  {
    title: 'the end of an account',
    call: `{s}.forget_accounts('a{n}', '{}')`,
    add: `with made as (insert into {s}.accounts (name, ends_at) select 'old' || i, ${later} from ${rows})
      insert into {s}.holds (account, id, amount, at, settled) select 'old' || i, 'h', 1, {s}.now_ms(), true from ${rows}`,
  },
]

describe.skipIf(server === undefined)('deleting what has expired, in Postgres', () => {
  it.each(cases)('reads as few pages for $title with 20,000 rows as with none', async ({ call, add }) => {
    const store = stores.fresh()
    await store.ready()
    const at = (text: string) => text.replaceAll('{s}', `"${stores.schemaOf(store)}"`)
    const pages = async (n: number) => pagesOf(at(call.replace('{n}', String(n))))
    // The server plans for an empty table, and keeps that plan.
    for (let n = 0; n < 9; n++) await pages(n)
    const few = await pages(10)
    await client.query(at(add))
    expect(await pages(11)).toBeLessThan(few + 30)
  })
})

/** How many pages the server touches for a call on this connection. */
async function pagesOf(call: string): Promise<number> {
  const { rows } = await client.query(`explain (analyze, buffers, format json) select ${call}`)
  const { Plan } = rows[0]['QUERY PLAN'][0]
  return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']
}
