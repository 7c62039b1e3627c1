import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import { postgres } from '../../../store-postgres/src/index.ts'
import { sql } from '../../../store-postgres/test/schemas.ts'
import { anyServer } from '../../../store-postgres/test/server.ts'
import { raw } from '../../../store-sqlite/test/files.ts'

/**
 * What a claim costs while many runs wait: the third table of `npm run bench -- durable`. The best of several claims counts. The tests of the
 * stores hold the growth.
 */
const key = { tenant: 't0', owner: 'ann', agent: 'agent', sessionId: 's0' }
const columns =
  'owner, session_agent, agent, version, status, run_at, fingerprint, updated_at, task, sealed_as, queue, priority, rank'
const tenants = 100
const lines: string[] = []

const folder = mkdtempSync(join(tmpdir(), 'allium-bench-'))
const server = await anyServer()
for (const waiting of [1000, 100_000]) {
  const path = join(folder, `${waiting}.db`)
  const file = sqlite(path)
  await addFirst(file)
  raw(path, (db) =>
    db.exec(`with recursive i (i) as (select 1 union all select i + 1 from i where i < ${waiting})
      insert into runs (tenant, session, run, ${columns}) select 't' || (i % ${tenants}), 's' || i, 'r' || i, ${columns} from i, runs`),
  )
  await tell('SQLite, synchronous = full', file, waiting)
  file.close()
  if (server === undefined) continue
  const schema = `bench_claims_${waiting}_${process.pid}`
  const store = postgres({ url: server.url, schema })
  await addFirst(store)
  const rows = `generate_series(1, ${waiting}) i`
  await sql(
    server.url,
    `insert into ${schema}.sessions (tenant, owner, agent, id) select 't' || (i % ${tenants}), 'ann', 'agent', 's' || i from ${rows}`,
  )
  await sql(
    server.url,
    `insert into ${schema}.runs (tenant, session, run, ${columns})
     select 't' || (i % ${tenants}), 's' || i, 'r' || i, ${columns} from ${schema}.runs, ${rows}`,
  )
  await tell('Postgres', store, waiting)
  await store.close()
}
rmSync(folder, { recursive: true, force: true })
await server?.end()
const heads = [`a claim, with ${tenants} tenants`, 'runs that wait', '1 run, ms', '10 runs, ms', '100 runs, ms']
console.log(`\n| ${heads.join(' | ')} |\n|${'---|'.repeat(heads.length)}\n${lines.join('\n')}`)

type Store = Pick<SqliteStore, 'runs'>

async function addFirst({ runs }: Store): Promise<void> {
  await runs.add({ run: 'r0', key, agent: 'agent', version: '1', task: {} })
}

async function tell(name: string, { runs }: Store, waiting: number): Promise<void> {
  const queues = [{ name: 'default', concurrency: 10_000, perTenant: 1000 }]
  const query = { agents: [{ name: 'agent', version: '1' }], ms: 600_000, alone: false, waitingOnly: true, queues }
  const cells: string[] = []
  for (const limit of [1, 10, 100]) {
    let best = Number.POSITIVE_INFINITY
    for (let i = 0; i < 8; i++) {
      const began = performance.now()
      const claimed = await runs.claim({ ...query, limit })
      if (claimed.length === limit) best = Math.min(best, performance.now() - began)
    }
    cells.push(best.toFixed(1))
  }
  lines.push(`| ${name} | ${waiting} | ${cells.join(' | ')} |`)
}
