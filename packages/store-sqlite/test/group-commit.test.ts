import type { Lease } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../src/index.ts'
import { beforeStatementOfNext } from './before-statement.ts'
import { fileIn, raw } from './files.ts'
import { turn } from './stored-turn.ts'

const keyOf = (sessionId: string) => ({ tenant: 'acme', owner: 'ann', agent: 'agent', sessionId })
const reservation = (id: string, account = 'acme') => ({ id, account, amount: 1, limit: 100 })

function opened(path = fileIn()) {
  const store = sqlite(path)
  onTestFinished(() => store.close())
  return { path, store }
}

/** The same, and what is called before each of its scripts once it is open. */
function watched(act: (sql: string) => void) {
  let isOpen = false
  onTestFinished(beforeStatementOfNext((sql) => isOpen && act(sql)))
  const made = opened()
  isOpen = true
  return made
}

async function leaseOf(sessions: SessionStore, id: string): Promise<Lease> {
  const { lease } = await sessions.acquire(keyOf(id), 10_000)
  return lease ?? expect.fail('Somebody has it.')
}

it('writes what is asked at once in one transaction', async () => {
  let scripts = 0
  const { store } = watched(() => scripts++)
  const ids = Array.from({ length: 50 }, (_, i) => String(i))
  await Promise.all([
    ...ids.map((id) => store.ledger.reserve(reservation(id))),
    ...ids.map((id) => store.sessions.acquire(keyOf(id), 1000)),
  ])
  expect([scripts, store.ledger.balance('acme')]).toEqual([2, { spent: 0, reserved: 50 }])
})

it('answers none before all of them are in the file', async () => {
  const { path, store } = opened()
  const inFile = () => raw(path, (db) => db.prepare('select count(*) as n from holds').get()) as { n: number }
  const seen = ['a', 'b', 'c'].map(async (id) => {
    await store.ledger.reserve(reservation(id))
    return inFile().n
  })
  expect(inFile().n).toBe(0)
  expect(await Promise.all(seen)).toEqual([3, 3, 3])
})

it('fails the one that is refused, and stores the others that were asked with it', async () => {
  const { store } = opened()
  const ids = ['a', 'b', 'c']
  const leases = await Promise.all(ids.map((id) => leaseOf(store.sessions, id)))
  const stale = (lease: Lease, i: number) => (i === 1 ? { ...lease, token: lease.token + 99 } : lease)
  const asked = leases.map((lease, i) => store.sessions.append(stale(lease, i), 0, turn))
  const posts = [store.ledger.reserve(reservation('x')), store.ledger.reserve({ ...reservation('y'), limit: 1 })]
  const told = await Promise.allSettled(asked)
  expect(told.map((one) => (one.status === 'rejected' ? one.reason.code : 'stored'))).toEqual([
    'stored',
    'store.fenced',
    'stored',
  ])
  const versions = await Promise.all(ids.map(async (id) => (await store.sessions.load(keyOf(id)))?.version))
  expect([versions, await Promise.all(posts)]).toEqual([[1, undefined, 1], [reservation('x'), undefined].map(held)])
})

it('writes what was asked before it closes, and before a delete that came after it', async () => {
  const { path, store } = opened()
  const lease = await leaseOf(store.sessions, 'a')
  await store.sessions.append(lease, 0, turn)
  const asked = store.sessions.renew(lease, 1000)
  await store.sessions.delete(keyOf('a'))
  expect(await asked).toBe(true)
  const last = store.ledger.reserve(reservation('last'))
  store.close()
  await last
  expect(raw(path, (db) => db.prepare('select settled from holds').all())).toEqual([{ settled: 0 }])
})

it('tells each that the file is held by another, and asks it once', async () => {
  let scripts = 0
  const { store } = watched(() => {
    scripts++
    throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
  })
  const told = await Promise.allSettled(['a', 'b'].map((id) => store.ledger.reserve(reservation(id))))
  expect(told.map((one) => one.status === 'rejected' && one.reason.code)).toEqual(Array(2).fill('store.unavailable'))
  expect(scripts).toBe(1)
})

it('stores those for which there is room, where there is none for all that were asked at once', async () => {
  const path = fileIn()
  const store = sqlite(path, { maxBytes: 500_000 })
  onTestFinished(() => store.close())
  const ids = Array.from({ length: 10 }, (_, i) => String(i))
  const leases = await Promise.all(ids.map((id) => leaseOf(store.sessions, id)))
  const long = { ...turn, messages: [{ role: 'user' as const, content: 'x '.repeat(20_000) }] }
  const told = await Promise.allSettled(leases.map((lease) => store.sessions.append(lease, 0, long)))
  const ends = told.map((one) => (one.status === 'rejected' ? one.reason.code : 'stored'))
  expect(new Set(ends)).toEqual(new Set(['stored', 'store.full']))
  const again = sqlite(path)
  onTestFinished(() => again.close())
  const versions = await Promise.all(ids.map(async (id) => (await again.sessions.load(keyOf(id)))?.version))
  expect(versions.map((version) => (version === 1 ? 'stored' : 'store.full'))).toEqual(ends)
})

it('writes each alone where one is refused and the others cannot be written together', async () => {
  let failed: number | undefined
  const { store } = watched((sql) => {
    if (failed !== undefined && sql === 'commit' && failed++ === 0)
      throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
  })
  const ids = ['a', 'b', 'c']
  const leases = await Promise.all(ids.map((id) => leaseOf(store.sessions, id)))
  failed = 0
  const stale = (lease: Lease) => (lease.key.sessionId === 'b' ? { ...lease, token: lease.token + 99 } : lease)
  const told = await Promise.allSettled(leases.map((lease) => store.sessions.append(stale(lease), 0, turn)))
  expect(told.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(failed).toBeGreaterThan(1)
})

function held(given: ReturnType<typeof reservation> | undefined) {
  return given && { id: given.id, account: given.account, amount: given.amount }
}
