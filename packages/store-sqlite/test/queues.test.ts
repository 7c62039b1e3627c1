import { manualClock } from '@allium/testing'
import { expect, it } from 'vitest'
import { growth } from '../../testing/test/growth.ts'
import { sqlite } from '../src/index.ts'
import { fileIn, raw } from './files.ts'
import { plansOf } from './plans.ts'

const agents = [{ name: 'agent', version: '1' }]
const query = { agents, limit: 5, ms: 1000, alone: true }
const rateLimit = { limit: 10_000, period: 1000, perTenant: 10_000 }
const queues = [{ name: 'default', concurrency: 10_000, perTenant: 10_000, rateLimit }]
const key = { tenant: 't0', owner: 'ann', agent: 'agent', sessionId: 's0' }

/** A file in which this many runs of two tenants wait. One has a single run. */
async function fileWith(count: number) {
  const path = fileIn()
  const clock = manualClock()
  const store = sqlite(path, { clock, synchronous: 'normal' })
  await store.runs.add({ run: 'r0', key, agent: 'agent', version: '1', task: {} })
  await store.runs.add({ run: 'x', key: { ...key, tenant: 't1' }, agent: 'agent', version: '1', task: {} })
  const columns =
    'owner, session_agent, agent, version, status, run_at, fingerprint, updated_at, task, sealed_as, queue, priority, rank'
  raw(path, (db) =>
    db.exec(`with recursive i (i) as (select 1 union all select i + 1 from i where i < ${count})
      insert into runs (tenant, session, run, ${columns}) select tenant, 's' || i, 'r' || i, ${columns} from i, runs where run = 'r0'`),
  )
  return { path, clock, store }
}

it('claims as cheaply with 100,000 waiting runs as with 1,000', async () => {
  const files = new Map([1000, 100_000].map((count) => [count, fileWith(count)]))
  const claimAll = async (count: number) => {
    const { store } = (await files.get(count)) as Awaited<ReturnType<typeof fileWith>>
    for (let i = 0; i < 10; i++) {
      expect(await store.runs.claim({ ...query, queues, waitingOnly: i % 2 === 0 })).toHaveLength(5)
      await store.runs.orphans({ agents, ms: 1000, lease: 1000, limit: 5 })
    }
  }
  expect(await growth(claimAll, 1000, 100_000, 3)).toBeLessThan(3)
})

it('lets a tenant with one run start before the second run of one with 100,000', async () => {
  const { store } = await fileWith(100_000)
  const claimed = [await store.runs.claim({ ...query, limit: 1 }), await store.runs.claim({ ...query, limit: 1 })]
  expect(claimed.flat().map(({ run }) => run.key.tenant)).toEqual(['t0', 't1'])
})

it('reads no runs but those that it may claim', async () => {
  const { path, clock, store } = await fileWith(1)
  store.close()
  const plans = await plansOf(path, clock, async ({ runs }) => {
    await runs.claim({ ...query, queues })
    await runs.orphans({ agents, ms: 1000, lease: 1000, limit: 5 })
    await runs.add({ run: 'y', key, agent: 'agent', version: '1', task: {} }, { claim: 1000, limits: queues[0] })
    await runs.expire({ olderThan: 1000 })
  })
  const scans = [...plans].filter(([, plan]) => /SCAN (r|runs|queue_\w+)\b/.test(plan)).map(([sql]) => sql)
  expect([plans.size > 10, scans]).toEqual([true, []])
})
