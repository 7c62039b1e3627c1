import { afterAll, describe, expect, it } from 'vitest'
import { sql, storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const url = server?.url ?? ''
const stores = storesAt(url)
afterAll(async () => {
  await stores.end()
  await server?.end()
})

const agents = [{ name: 'agent', version: '1' }]
const query = { agents, limit: 1, ms: 60_000, alone: false }
const limits = { concurrency: 1000, perTenant: 1000, rateLimit: { limit: 1000, period: 60_000, perTenant: 1000 } }
const key = { tenant: 't0', owner: 'ann', agent: 'agent', sessionId: 's0' }

/** A store in which this many runs wait, and its schema. */
async function storeWith(count: number) {
  const store = stores.fresh()
  await store.runs.add({ run: 'r0', key, agent: 'agent', version: '1', task: {} })
  await store.runs.add({ run: 'x', key: { ...key, tenant: 't1' }, agent: 'agent', version: '1', task: {} })
  const schema = `"${stores.schemaOf(store)}"`
  const columns =
    'owner, session_agent, agent, version, status, run_at, fingerprint, updated_at, task, sealed_as, queue, priority, rank'
  const rows = `generate_series(1, ${count}) i`
  await sql(
    url,
    `insert into ${schema}.sessions (tenant, owner, agent, id) select 't0', 'ann', 'agent', 's' || i from ${rows}`,
  )
  await sql(
    url,
    `insert into ${schema}.runs (tenant, session, run, ${columns})
     select tenant, 's' || i, 'r' || i, ${columns} from ${schema}.runs, ${rows} where run = 'r0'`,
  )
  return { store, schema }
}

/** How many pages the server touches for a statement. Unlike its time, this does not depend on other work of the machine. */
async function pagesOf(statement: string): Promise<number> {
  const [row] = await sql(url, `explain (analyze, buffers, format json) ${statement}`)
  const [root] = (row?.['QUERY PLAN'] ?? []) as { Plan: Record<string, number> }[]
  const plan = root?.Plan ?? {}
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
}

describe.skipIf(server === undefined)('queues in Postgres', () => {
  it('claims with as few pages with 100,000 waiting runs as with 1,000', async () => {
    const pages: number[] = []
    for (const count of [1000, 100_000]) {
      const { schema } = await storeWith(count)
      const queues = JSON.stringify([{ name: 'default', ...limits }])
      const claim = `select * from ${schema}.claim_runs('{agent}', '{1}', 5, 60000, false, '${queues}', false, null)`
      const orphans = `select * from ${schema}.claim_orphans('{agent}', '{1}', 5, 60000, 60000)`
      await pagesOf(claim)
      pages.push((await pagesOf(claim)) + (await pagesOf(orphans)))
    }
    const [small = 0, large = 0] = pages
    expect([small > 0, large < small * 2]).toEqual([true, true])
  })

  it('lets a tenant with one run start before the second run of one with 10,000', async () => {
    const { store } = await storeWith(10_000)
    const claimed = [await store.runs.claim(query), await store.runs.claim(query)]
    expect(claimed.flat().map(({ run }) => run.key.tenant)).toEqual(['t0', 't1'])
  })
})
