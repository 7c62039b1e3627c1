import { expect, it, onTestFinished } from 'vitest'
import { type SqliteStore, sqlite } from '../src/index.ts'
import { beforeStatement } from './before-statement.ts'
import { fileIn, raw } from './files.ts'

const keyOf = (sessionId: string, tenant = 'acme') => ({ tenant, owner: 'ann', agent: 'agent', sessionId })

/** A store in which a tenant has 500 sessions, and a run with 500 events. */
async function filled(): Promise<{ path: string; store: SqliteStore }> {
  const path = fileIn()
  const store = sqlite(path)
  onTestFinished(() => store.close())
  const ids = Array.from({ length: 500 }, (_, nth) => String(nth))
  await Promise.all(ids.map((id) => store.sessions.acquire(keyOf(id), 1000)))
  const run = { key: keyOf('0'), turnId: 't' }
  for (const delta of ids) await store.events.append(run, 1, [{ type: 'text-delta', delta }])
  return { path, store }
}

it('erases a tenant in transactions of at most 200 sessions', async () => {
  const { path, store } = await filled()
  const left: number[] = []
  const count = () =>
    raw(path, (db) => Number((db.prepare('select count(*) as n from sessions').get() as { n: number }).n))
  onTestFinished(beforeStatement((_, sql) => sql === 'begin immediate' && left.push(count())))
  await store.sessions.erase({ tenant: 'acme' })
  expect(count()).toBe(0)
  const steps = left.map((sessions, nth) => sessions - (left[nth + 1] ?? 0))
  expect([Math.max(...steps), steps.filter((step) => step > 0)]).toEqual([200, [200, 200, 100]])
})

it('lets timers and other writes run between two steps of an erasure', async () => {
  const { store } = await filled()
  const order: string[] = []
  const erased = store.sessions.erase({ tenant: 'acme' }).then(() => order.push('erased'))
  setImmediate(() => order.push('timer'))
  await store.sessions.acquire(keyOf('chat', 'globex'), 1000)
  order.push('acquired')
  await erased
  expect([order.toSorted(), order.at(-1)]).toEqual([['acquired', 'erased', 'timer'], 'erased'])
})
