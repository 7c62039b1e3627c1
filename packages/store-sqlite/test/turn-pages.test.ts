import { manualClock } from '@allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../src/index.ts'
import { fileIn, raw } from './files.ts'
import { plansOf } from './plans.ts'
import { turn } from './stored-turn.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const open = { ...turn, status: 'running', endedAt: undefined } as const

async function opened() {
  const path = fileIn()
  const store = sqlite(path)
  onTestFinished(() => store.close())
  const { lease = expect.fail() } = await store.sessions.acquire(key, 10_000)
  const rows = () => raw(path, (db) => db.prepare('select n, seq, turn_id, status from turns').all())
  return { path, store, lease, rows }
}

it('ends a turn in the row of its checkpoints', async () => {
  const { store, lease, rows } = await opened()
  await store.sessions.checkpoint(lease, 0, open)
  await store.sessions.checkpoint(lease, 0, { ...open, messages: [{ role: 'user', content: 'Hi again' }] })
  expect(rows()).toEqual([{ n: 1, seq: -1, turn_id: 't', status: 'running' }])
  await store.sessions.append(lease, 0, { ...turn, idempotencyKey: 'k' })
  expect(rows()).toEqual([{ n: 1, seq: 0, turn_id: 't', status: 'completed' }])
  expect((await store.sessions.find(key, { idempotencyKey: 'k' }))?.turnId).toBe('t')
})

it('replaces the open run of a lost process by another turn', async () => {
  const { store, lease, rows } = await opened()
  for (const turnId of ['lost', 'next']) await store.sessions.checkpoint(lease, 0, { ...open, turnId })
  expect(rows()).toMatchObject([{ seq: -1, turn_id: 'next' }])
  await store.sessions.append(lease, 0, { ...turn, turnId: 'other' })
  expect(rows()).toMatchObject([{ seq: 0, turn_id: 'other' }])
})

it('stores the turn if the row of its checkpoint is missing', async () => {
  const { path, store, lease, rows } = await opened()
  for (let i = 0; i < 2; i++) {
    await store.sessions.checkpoint(lease, 0, open)
    expect(rows()).toMatchObject([{ seq: -1, status: 'running' }])
    raw(path, (db) => db.exec('delete from turns'))
  }
  await store.sessions.append(lease, 0, turn)
  expect(rows()).toMatchObject([{ seq: 0, status: 'completed' }])
})

it('marks only a turn that starts no later than the one before', async () => {
  const { path, store, lease } = await opened()
  for (const [version, from] of [0, 1, 2, 1, 2].entries()) {
    const next = { ...open, turnId: `t${version}`, from }
    await store.sessions.checkpoint(lease, version, next)
    await store.sessions.append(lease, version, { ...next, status: 'completed', endedAt: 2 })
  }
  const marked = raw(path, (db) => db.prepare('select seq from turns where rewinds = 1').all())
  expect(marked).toEqual([{ seq: 3 }])
})

it('finds the turns of a usage report by the time of their end', async () => {
  const plans = await plansOf(fileIn(), manualClock(), (store) => store.usage({ tenant: 'acme', from: 0, to: 1 }))
  expect([...plans.values()].join('\n')).toContain(
    'SEARCH turns USING INDEX turns_by_time (tenant=? AND ended_at>? AND ended_at<?)',
  )
})
