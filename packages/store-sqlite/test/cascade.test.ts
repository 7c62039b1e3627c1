import { AlliumError } from '@allium/core'
import { manualClock } from '@allium/testing'
import { expect, it } from 'vitest'
import { sqlite } from '../src/index.ts'
import { fileIn, raw } from './files.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const run = { key, turnId: 't' }
const keyOf = (tenant: string, owner: string) => `guard:pii:${JSON.stringify([tenant, owner, 'agent', 'chat'])}`

it('erases events and placeholders with the sessions of an owner, and those alone', async () => {
  const store = sqlite(':memory:')
  for (const owner of ['ann', 'bob']) {
    await store.events.append({ key: { ...key, owner }, turnId: 't' }, 1, [owner], { end: true })
    await store.vault.save(keyOf('acme', owner), { '[NAME_1]': owner })
  }
  await store.sessions.erase({ tenant: 'acme', owner: 'ann' })
  const left = async (owner: string) => [
    await store.events.latest({ ...key, owner }),
    await store.vault.load(keyOf('acme', owner)),
  ]
  expect(await left('ann')).toEqual([undefined, undefined])
  expect(await left('bob')).toEqual([{ turnId: 't', seq: 1, ended: true }, { '[NAME_1]': 'bob' }])
  await store.sessions.delete({ ...key, owner: 'bob' })
  expect(await left('bob')).toEqual([undefined, undefined])
  store.close()
})

it('seals events, steers, values and placeholders: the file tells nothing of them', async () => {
  const path = fileIn()
  const encrypt = {
    seal: (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0x55),
    open: (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0x55),
  }
  const store = sqlite(path, { encrypt })
  await store.events.append(run, 1, [{ text: 'canary' }])
  await store.events.signal(run, { steer: 'canary', id: '1' })
  await store.keyValue.set('k', 'canary')
  await store.vault.save(keyOf('acme', 'ann'), { '[NAME_1]': 'canary' })
  expect(await store.keyValue.get('k')).toBe('canary')
  store.close()
  const rows = raw(path, (db) =>
    ['events', 'event_signals', 'key_values', 'vault'].flatMap((table) => db.prepare(`select * from ${table}`).all()),
  ) as Record<string, unknown>[]
  const bodies = rows.flatMap(({ body, value }) => [body, value]).filter((bytes) => bytes instanceof ArrayBuffer)
  expect(bodies.map((bytes) => Buffer.from(bytes).includes('canary'))).toEqual([false, false, false, false])
})

it('takes events of another place for none: they do not open', async () => {
  const path = fileIn()
  const encrypt = {
    seal: (bytes: Uint8Array, { row }: { row: string }) =>
      new TextEncoder().encode(`${row}|${new TextDecoder().decode(bytes)}`),
    open(bytes: Uint8Array, { row }: { row: string }) {
      const text = new TextDecoder().decode(bytes)
      if (!text.startsWith(`${row}|`)) throw new AlliumError('store.sealed', 'Another row.')
      return new TextEncoder().encode(text.slice(row.length + 1))
    },
  }
  const store = sqlite(path, { encrypt })
  const other = { key, turnId: 'other' }
  await store.events.append(run, 1, ['mine'], { end: true })
  await store.events.append(other, 1, ['theirs'], { end: true })
  raw(path, (db) =>
    db.exec('update events set (id, body) = (select id, body from events where place >> 32 = 2) where place >> 32 = 1'),
  )
  await expect(store.events.read(run, 0).next()).rejects.toMatchObject({ code: 'store.sealed' })
  store.close()
})

it('tells another process of a signal within 100 ms, also after a long silence', async () => {
  const [path, clock] = [fileIn(), manualClock()]
  const [one, other] = [sqlite(path, { clock }), sqlite(path, { clock })]
  await one.events.append(run, 1, [])
  const told: unknown[] = []
  const off = await one.events.onSignal(run, (signal) => void told.push(signal))
  await clock.advance(60_000)
  await other.events.signal(run, { stop: true })
  await clock.advance(100)
  expect(told).toEqual([{ stop: true }])
  off()
  expect(clock.pending).toBe(0)
  one.close()
  other.close()
})
