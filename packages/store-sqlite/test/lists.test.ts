import type { SessionStore } from '@allium/store'
import { manualClock } from '@allium/testing'
import { expect, it } from 'vitest'
import { sqlite } from '../src/index.ts'
import { fileIn } from './files.ts'
import { plansOf } from './plans.ts'

const of = { tenant: 'acme', owner: 'ann' }
const usage = { inputTokens: 0, outputTokens: 0, calls: 0 }

async function add(sessions: SessionStore, sessionId: string, recordIds: readonly string[] = []): Promise<void> {
  const { lease } = await sessions.acquire({ ...of, agent: 'agent', sessionId }, 1000)
  if (lease === undefined) return expect.fail('Nobody has it.')
  await sessions.append(lease, 0, {
    ...{ turnId: sessionId, rootId: sessionId, agent: 'agent', status: 'completed', startedAt: 1, endedAt: 2, usage },
    ...{ answer: '', from: 0, messages: [], rest: { state: {} } },
    records: recordIds.map((id) => ({ id, topic: 'paid', data: id, at: 1 })),
  })
}

it.each([
  ['a tenant', { tenant: 'acme' }],
  ['an owner', of],
])('reads a page in the middle of the sessions of %s from its place on, in the order of an index', async (_, which) => {
  const [path, clock] = [fileIn(), manualClock()]
  const store = sqlite(path, { clock })
  for (let i = 0; i < 9; i++) {
    await add(store.sessions, `s${i}`)
    if (i % 3 === 0) await clock.advance(10)
  }
  const first = await store.sessions.list({ ...which, limit: 4 })
  const cursor = first.cursor ?? ''
  const plans = await plansOf(path, clock, ({ sessions }) => sessions.list({ ...which, limit: 4, cursor }))
  const plan = [...plans].find(([sql]) => sql.includes('from sessions indexed by'))?.[1] ?? ''
  expect(plan).not.toMatch(/TEMP B-TREE|SCAN sessions/)
  expect(plan.match(/SEARCH sessions USING INDEX \w+ \([^)]*updated_at[<=]/g)).toHaveLength(2)
  store.close()
})

it('takes records of the outbox from the place of the consumer on, past those that are done', async () => {
  const [path, clock] = [fileIn(), manualClock()]
  const { sessions, close } = sqlite(path, { clock })
  const { outbox } = sessions
  await add(sessions, 'a', ['1', '2', '3'])
  await outbox.done(
    'bills',
    (await outbox.claim('bills', 10, 1000)).map(({ id }) => id),
  )
  await add(sessions, 'b', ['4'])
  const plans = await plansOf(path, clock, ({ sessions }) => sessions.outbox.claim('other', 10, 1000))
  const plan = [...plans].map(([, plan]) => plan).join('\n')
  expect(plan).toContain('SEARCH o USING INTEGER PRIMARY KEY (rowid>?)')
  expect(plan).toContain('SEARCH p USING INDEX outbox_deliveries_open (consumer=?)')
  expect(plan).not.toMatch(/SCAN (o|p|outbox|outbox_deliveries)\b/)
  expect((await outbox.claim('bills', 10, 1000)).map(({ id }) => id)).toEqual(['4'])
  close()
})

it('keeps records over a wall clock that jumps, and forgets them after their time by the monotonic clock', async () => {
  const steady = manualClock()
  let jump = 0
  const clock = { now: () => steady.now() + jump, monotonic: () => steady.monotonic(), after: steady.after }
  const { sessions, close } = sqlite(':memory:', { clock })
  const idsFor = async (consumer: string) => (await sessions.outbox.claim(consumer, 10, 1)).map(({ id }) => id)
  await sessions.outbox.claim('first', 1, 1)
  await add(sessions, 'a', ['1'])
  for (jump of [40 * 86_400_000, -40 * 86_400_000]) expect(await idsFor(`jumped ${jump}`)).toEqual(['1'])
  await steady.advance(29 * 86_400_000)
  expect(await idsFor('in time')).toEqual(['1'])
  await steady.advance(2 * 86_400_000)
  expect(await idsFor('too late')).toEqual([])
  close()
})

it('forgets old sessions in steps, and leaves those that somebody has or that a run waits for', async () => {
  const clock = manualClock()
  const store = sqlite(fileIn(), { clock })
  for (let i = 0; i < 250; i++) await add(store.sessions, `s${i}`)
  await clock.advance(5000)
  await store.sessions.acquire({ ...of, agent: 'agent', sessionId: 's7' }, 1000)
  let turns = 0
  const counting = setInterval(() => turns++, 0)
  expect(await store.sessions.expire({ olderThan: 1000 })).toBe(249)
  clearInterval(counting)
  const left = await store.sessions.list({ ...of, limit: 10 })
  expect(left.items.map(({ key }) => key.sessionId)).toEqual(['s7'])
  expect(turns).toBeGreaterThan(0)
  store.close()
})
