import { manualClock } from '@allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../src/index.ts'
import { fileIn, raw } from './files.ts'
import { plansOf } from './plans.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const runOf = (turnId: string) => ({ key, turnId })

function opened(path = fileIn(), clock = manualClock()) {
  const store = sqlite(path, { clock })
  onTestFinished(() => store.close())
  const eventsOf = async (turnId: string, after = 0) => {
    const events: unknown[] = []
    for await (const { event } of store.events.read(runOf(turnId), after)) events.push(event)
    return events
  }
  const rows = (table: string) => raw(path, (db) => db.prepare(`select * from ${table}`).all() as unknown[]).length
  return { path, clock, store, eventsOf, rows }
}

it('stores a batch of 3 kB in one page', async () => {
  const { path, store } = opened()
  const pages = () => raw(path, (db) => db.pragma('page_count') as { page_count: number }[])[0]?.page_count ?? 0
  const before = pages()
  for (let i = 0; i < 50; i++) await store.events.append(runOf('t'), 1, ['x'.repeat(3000)])
  expect(pages() - before).toBeLessThan(60)
})

it.each([0, 1, 9, 10, 11, 1e12])(
  'reads the events of a run after position %i, and none of its neighbors',
  async (after) => {
    const { store, eventsOf } = opened()
    const ids = ['t1', 't2', 't3']
    for (let i = 0; i < 5; i++)
      for (const id of ids) await store.events.append(runOf(id), 1, [`${id}-${2 * i}`, `${id}-${2 * i + 1}`])
    for (const id of ids) await store.events.append(runOf(id), 1, [], { end: true })
    const expected = Array.from({ length: 10 }, (_, i) => `t2-${i}`).slice(after)
    expect(await eventsOf('t2', after)).toEqual(expected)
  },
)

it.each([2 ** 31 - 2, 2 ** 32 - 2])('tells runs apart after %i runs', async (runs) => {
  const { path, store, eventsOf } = opened()
  const ids = ['t1', 't2', 't3', 't4']
  await store.events.append(runOf('t1'), 1, [])
  raw(path, (db) => db.prepare('update event_runs set run = ?').run([runs]))
  for (const end of [false, true])
    for (const id of ids) await store.events.append(runOf(id), 1, [`${id}-${end}`], { end })
  for (const id of ids) expect(await eventsOf(id)).toEqual([`${id}-false`, `${id}-true`])
})

it('finds the events of a run by their place, without a look at other events', async () => {
  const { path, clock, store } = opened()
  await store.events.append(runOf('t'), 1, ['a'], { end: true })
  const plans = await plansOf(path, clock, async ({ events, sessions }) => {
    await events.append(runOf('t2'), 1, ['b'], { end: true })
    await events.read(runOf('t'), 0).next()
    await events.delete({ tenant: 'acme', owner: 'ann' })
    await sessions.delete(key)
    await sessions.erase({ tenant: 'acme' })
  })
  const ofEvents = [...plans].filter(([sql]) => sql.includes('events')).map(([, plan]) => plan)
  expect(ofEvents.join('\n')).toContain('SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)')
  expect([...plans.values()].join('\n')).not.toMatch(/SCAN (events|event_runs|event_signals)\b/)
})

it('deletes the events and signals of a run with it, and those of no other run', async () => {
  const { store, rows, eventsOf } = opened()
  for (const owner of ['ann', 'bob']) {
    const run = { key: { ...key, owner }, turnId: 't' }
    await store.events.append(run, 1, ['a'])
    await store.events.signal(run, { steer: 's', id: '1' })
  }
  await store.events.append(runOf('ended'), 1, ['b'], { end: true })
  await store.events.delete({ tenant: 'acme', owner: 'bob' })
  expect(['event_runs', 'events', 'event_signals'].map(rows)).toEqual([2, 2, 1])
  expect(await eventsOf('ended')).toEqual(['b'])
  await store.sessions.delete(key)
  expect(['event_runs', 'events', 'event_signals'].map(rows)).toEqual([0, 0, 0])
})
