import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { sqlite } from '../src/index.ts'
import { beforeStatementOfNext } from './before-statement.ts'
import { counted } from './counted.ts'
import { fileIn } from './files.ts'
import { turn } from './stored-turn.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const by = { tenant: 'acme', owner: 'ann', since: 0 }

// The store also syncs a second after a write without a sync. On a busy machine that would count as well.
beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }))
afterAll(() => void vi.useRealTimers())

it('opens a run and listens to it with one statement', async () => {
  const { store, during } = counted()
  const run = { key, turnId: 't' }
  const open = async () => {
    await store.events.append(run, 1, [], { by })
    onTestFinished(await store.events.onSignal(run, () => {}))
  }
  await store.events.append({ key, turnId: 'first' }, 1, [], { end: true })
  expect(await during(open)).toEqual([1, 1])
  expect(await during(() => store.events.append(run, 1, ['end'], { end: true, mustExist: true }))).toEqual([1, 1])
})

it('takes and loads a session with one statement each, and stores a checkpoint and its turn with two each', async () => {
  const { store, during } = counted()
  const { lease = expect.fail() } = await store.sessions.acquire({ ...key, sessionId: 'other' }, 10_000)
  expect(await during(() => store.sessions.acquire(key, 10_000))).toEqual([1, 1])
  expect(await during(() => store.sessions.checkpoint(lease, 0, { ...turn, status: 'running' }))).toEqual([2, 1])
  const after = { messages: 1, calls: 0, records: 0 }
  expect(await during(() => store.sessions.checkpoint(lease, 0, { ...turn, status: 'running', after }))).toEqual([2, 1])
  expect(await during(() => store.sessions.append(lease, 0, turn, { release: true }))).toEqual([2, 1])
  expect(await during(() => store.sessions.load(lease.key))).toEqual([1, 0])
})

it('adds and claims a run with two statements, and records a step of it with one, and ends it with three', async () => {
  const { store, during } = counted()
  const run = (id: string) => ({ run: id, key: { ...key, sessionId: id }, agent: 'agent', version: '1', task: 'Hi' })
  const add = (id: string) => store.runs.add(run(id), { claim: 10_000, unlessBusy: 10_000 })
  const { lease = expect.fail() } = await add('first')
  expect(await during(() => add('second'))).toEqual([2, 1])
  const record = () => store.runs.record(lease, 'first', { id: 'first:start', body: 1 })
  expect(await during(record)).toEqual([1, 1])
  expect(await during(record)).toEqual([2, 1])
  const ended = { ...turn, turnId: 'first' }
  expect(await during(() => store.sessions.append(lease, 0, ended, { release: true }))).toEqual([3, 1])
})

it('claims a run at once where the file remembers an erasure, and not while another run of its queue could start', async () => {
  const { store } = counted()
  const run = (id: string) => ({ run: id, key: { ...key, sessionId: id }, agent: 'agent', version: '1', task: 'Hi' })
  const { lease: held = expect.fail() } = await store.sessions.acquire({ ...key, sessionId: 'known' }, 10_000)
  await store.sessions.release(held)
  await store.sessions.erase({ tenant: 'other' })
  const claimed = async (id: string) => (await store.runs.add(run(id), { claim: 10_000 })).lease !== undefined
  expect([await claimed('known'), await claimed('new')]).toEqual([true, true])
  await store.runs.add(run('waits'))
  expect(await claimed('later')).toBe(false)
})

it('reserves and settles with one statement each, also in a new account and in one whose end moves', async () => {
  const { store, during } = counted()
  const request = { id: 'a', account: 'acme', amount: 1, limit: 10, ttl: 1000, endsIn: 1000 }
  await store.ledger.reserve({ ...request, account: 'other' })
  expect(await during(async () => store.ledger.reserve(request))).toEqual([1, 1])
  expect(await during(async () => store.ledger.reserve({ ...request, id: 'b', endsIn: 9000 }))).toEqual([1, 1])
  expect(await during(async () => store.ledger.settle(request, 1))).toEqual([1, 1])
  expect(await during(async () => store.ledger.reserve({ ...request, id: 'c', limit: 2 }))).toEqual([2, 1])
  expect(store.ledger.balance('acme')).toEqual({ spent: 1, reserved: 1 })
})

it('posts a settlement that can wait in the transaction of the next write', async () => {
  const { store, during } = counted()
  const { ledger, sessions } = store
  const reservation = { id: 'a', account: 'acme', amount: 1 }
  await ledger.reserve({ ...reservation, limit: 10, run: 'r' })
  const { lease = expect.fail() } = await sessions.acquire(key, 10_000)
  const order: string[] = []
  const end = async () => {
    const posted = ledger.settleSoon?.(reservation, 1).then(() => order.push('settled'))
    await Promise.resolve()
    await Promise.all([posted, sessions.append(lease, 0, turn).then(() => order.push('stored'))])
  }
  expect(await during(end)).toEqual([3, 1])
  expect(order).toEqual(['settled', 'stored'])
})

it('counts a settlement that waits at once, and posts it alone if no other write comes', async () => {
  const { store, during } = counted()
  const { ledger } = store
  const reservation = { account: 'acme', amount: 1, limit: 10, run: 'r' }
  for (const id of ['a', 'b']) await ledger.reserve({ ...reservation, id })
  expect(await during(async () => ledger.settleSoon?.({ ...reservation, id: 'a' }, 1))).toEqual([1, 1])
  void ledger.settleSoon?.({ ...reservation, id: 'b' }, 0.5)
  expect([ledger.balance('acme'), ledger.holds?.('r')]).toEqual([{ spent: 1.5, reserved: 0 }, []])
})

it('syncs what a caller relies on, and leaves the rest to the next sync', async () => {
  const syncs: boolean[] = []
  let level = 'full'
  onTestFinished(
    beforeStatementOfNext((sql) => {
      level = /synchronous = (\w+)/.exec(sql)?.[1] ?? level
      if (sql === 'commit') syncs.push(level === 'full')
    }),
  )
  const store = sqlite(fileIn())
  onTestFinished(() => store.close())
  syncs.length = 0
  const hold = { id: 'a', account: 'acme', amount: 1, limit: 10 }
  const { lease = expect.fail() } = await store.sessions.acquire(key, 10_000)
  await store.events.append({ key, turnId: 't' }, 1, ['first'], { by })
  await store.ledger.reserve(hold)
  expect(syncs).toEqual([false, false, false])
  await store.sessions.checkpoint(lease, 0, { ...turn, status: 'running' })
  await store.ledger.reserve({ ...hold, id: 'b', run: 't' })
  await store.sessions.append(lease, 0, turn)
  expect(syncs.slice(3)).toEqual([true, true, true])
})

it('syncs together if one of the writes must be on disk', async () => {
  const scripts: string[] = []
  onTestFinished(beforeStatementOfNext((sql) => scripts.push(sql)))
  const store = sqlite(fileIn())
  onTestFinished(() => store.close())
  scripts.length = 0
  await Promise.all([store.sessions.acquire(key, 10_000), store.keyValue.set('a', 1)])
  expect(scripts).toEqual(['begin immediate', 'commit'])
})
