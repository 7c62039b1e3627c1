import type { Recording, RecordingQuery } from '@allium/store'
import { manualClock } from '@allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../src/index.ts'
import { beforeStatementOfNext } from './before-statement.ts'
import { fileIn, raw } from './files.ts'
import { plansOf } from './plans.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const recording = (turnId: string, startedAt = 1): Recording => ({
  ...{ key, turnId, startedAt, expiresAt: 9e12, content: '"canary"' },
})

it.each<[string, Partial<RecordingQuery>]>([
  ['recordings_by_agent (agent=? AND started_at>? AND started_at<?)', { order: 'asc' }],
  ['recordings_by_agent (agent=? AND started_at>? AND started_at<?)', { order: 'desc' }],
  ['recordings_by_tenant (agent=? AND tenant=? AND started_at>? AND started_at<?)', { order: 'asc', tenant: 'acme' }],
  ['recordings_by_tenant (agent=? AND tenant=? AND started_at>? AND started_at<?)', { order: 'desc', tenant: 'acme' }],
])('reads a page of recordings in the order of %s', async (index, query) => {
  const [path, clock] = [fileIn(), manualClock()]
  const store = sqlite(path, { clock })
  for (let i = 0; i < 9; i++) await store.recordings.add(recording(`turn ${i}`, i))
  const page = { agent: 'agent', limit: 3, ...query }
  const { cursor } = await store.recordings.list(page)
  const plans = await plansOf(path, clock, ({ recordings }) => recordings.list({ ...page, cursor }))
  const plan = [...plans].find(([sql]) => sql.includes('from recordings'))?.[1]
  expect(plan).toBe(`SEARCH recordings USING INDEX ${index}`)
  store.close()
})

it('finds expired recordings by their index, and a hundred at a time', async () => {
  const [path, clock] = [fileIn(), manualClock()]
  const store = sqlite(path, { clock })
  const expiresAt = clock.now() + 10
  for (let i = 0; i < 250; i++) await store.recordings.add({ ...recording(`turn ${i}`), expiresAt })
  await clock.advance(10)
  let commits = 0
  onTestFinished(beforeStatementOfNext((sql) => (commits += sql === 'commit' ? 1 : 0)))
  const other = sqlite(path, { clock })
  commits = 0
  expect([await other.recordings.prune(), commits]).toEqual([250, 3])
  const plans = await plansOf(path, clock, ({ recordings }) => recordings.prune())
  expect([...plans.values()].join()).toContain('recordings_by_expiry (expires_at<?)')
  for (const one of [store, other]) one.close()
})

it('seals the content of a recording for its place, and says whether it does', async () => {
  const path = fileIn()
  const xor = (bytes: Uint8Array, { row }: { row: string }) => bytes.map((byte) => byte ^ (0x80 | row.length))
  const store = sqlite(path, { encrypt: { seal: xor, open: xor } })
  await store.recordings.add(recording('turn'))
  expect([store.recordings.sealed, sqlite(':memory:').recordings.sealed]).toEqual([true, false])
  expect(await store.recordings.get({ key, turnId: 'turn' })).toEqual(recording('turn'))
  store.close()
  const [row] = raw(path, (db) => db.prepare('select body from recordings').all()) as { body: ArrayBuffer }[]
  expect(Buffer.from(row?.body as ArrayBuffer).includes('canary')).toBe(false)
})
