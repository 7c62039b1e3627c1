import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { Agent, isAlliumError, type Lease, type SessionKey, type StoredTurn } from '@allium/core'
import { persist } from '@allium/memory'
import type { SessionStore, StoredSession } from '@allium/store'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { aes } from '../../store-postgres/test/aes.ts'
import { growth } from '../../testing/test/growth.ts'
import { type SqliteOptions, sqlite } from '../src/index.ts'
import { beforeStatementOfNext } from './before-statement.ts'
import { fileIn, raw } from './files.ts'

const key: SessionKey = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const named = (sessionId: string, owner = 'ann') => ({ ...key, sessionId, owner })
const hour = 3_600_000

function turnWith(data: Uint8Array | string, turnId = 't1', from = 0): StoredTurn {
  const usage = { inputTokens: 0, outputTokens: 0, calls: 1 }
  const messages = [{ role: 'user' as const, content: [{ type: 'image' as const, data, mediaType: 'image/png' }] }]
  const own = { rootId: turnId, agent: 'agent', status: 'completed' as const, startedAt: 1, endedAt: 2, answer: null }
  return { ...own, turnId, usage, records: [], from, messages, rest: { state: {} } }
}
const imageOf = (size: number, text = 'canary-4711 ') => new Uint8Array(Buffer.alloc(size, text))

/** Whether a session has one message with this image. */
function isImage(stored: StoredSession | undefined, image: Uint8Array): boolean {
  const [message] = stored?.history ?? []
  const [part] = typeof message?.content === 'object' ? message.content : []
  return part?.type === 'image' && Buffer.from(part.data as Uint8Array).equals(image)
}

function opened(options: SqliteOptions = {}) {
  const path = fileIn()
  const clock = manualClock()
  const store = sqlite(path, { clock, ...options })
  onTestFinished(() => store.close())
  const count = (sql: string) => raw(path, (db) => Number((db.prepare(sql).get([]) as { n: number }).n))
  return {
    path,
    clock,
    store,
    sessions: store.sessions,
    pieces: () => count('select count(*) as n from blobs'),
    holders: () => count('select count(*) as n from blob_holders'),
    leftovers: () => count('select count(*) as n from unheld_blobs'),
  }
}

async function taken(sessions: SessionStore, where: SessionKey): Promise<Lease> {
  const { lease } = await sessions.acquire(where, 10 * hour)
  return lease ?? expect.fail('Somebody has it.')
}

async function add(sessions: SessionStore, where: SessionKey, turn: StoredTurn): Promise<void> {
  const lease = await taken(sessions, where)
  await sessions.append(lease, lease.version, turn, { release: true })
}

it('stores the same image of an owner once, as bytes or as base64, and that of another owner apart', async () => {
  const { sessions, pieces, holders } = opened()
  const image = imageOf(600_000)
  await add(sessions, named('a'), turnWith(image))
  await add(sessions, named('b'), turnWith(Buffer.from(image).toString('base64')))
  await add(sessions, named('c'), turnWith(`data:image/png;base64,${Buffer.from(image).toString('base64')}`))
  expect([pieces(), holders()]).toEqual([3, 3])
  await add(sessions, named('a', 'bob'), turnWith(image))
  expect([pieces(), holders()]).toEqual([6, 4])
})

it('keeps the image of a run that goes on once, however often it is checkpointed, and through to its end', async () => {
  const { sessions, pieces, holders, leftovers } = opened()
  const lease = await taken(sessions, key)
  for (let step = 0; step < 3; step++)
    await sessions.checkpoint(lease, 0, { ...turnWith(imageOf(600_000)), status: 'running' })
  expect([pieces(), holders()]).toEqual([3, 1])
  await sessions.append(lease, 0, turnWith(imageOf(600_000)))
  expect([pieces(), holders(), leftovers()]).toEqual([3, 1, 0])
})

it('deletes an image with the last session that has it', async () => {
  const { sessions, pieces, holders, leftovers } = opened()
  for (const id of ['a', 'b']) await add(sessions, named(id), turnWith(imageOf(3_000_000)))
  await sessions.delete(named('a'))
  expect([pieces(), holders()]).toEqual([12, 1])
  await sessions.delete(named('b'))
  expect([pieces(), holders(), leftovers()]).toEqual([0, 0, 0])
})

it('deletes the images of sessions that expire', async () => {
  const { sessions, clock, pieces } = opened()
  await add(sessions, key, turnWith(imageOf(600_000)))
  await clock.advance(hour)
  expect(await sessions.expire({ olderThan: hour / 2 })).toBe(1)
  expect(pieces()).toBe(0)
})

it.each([{ tenant: 'acme' }, { tenant: 'acme', owner: 'ann' }])(
  'leaves no byte of an image in the file after erase(%j)',
  async (of) => {
    const { sessions, path } = opened()
    await add(sessions, key, turnWith(imageOf(600_000)))
    const files = () => readdirSync(dirname(path)).map((name) => readFileSync(join(dirname(path), name), 'latin1'))
    expect(files().join('')).toContain('canary-4711')
    await sessions.erase(of)
    expect(files().join('')).not.toContain('canary-4711')
  },
)

it('holds the image of a durable run until the run ends or is expired', async () => {
  const { store, sessions, clock, pieces, holders } = opened()
  const run = (id: string) => ({ run: id, key: named(id), agent: 'agent', version: '', task: imageOf(600_000) })
  const { lease } = await store.runs.add(run('a'), { claim: hour })
  await store.runs.add(run('b'))
  expect([pieces(), holders()]).toEqual([3, 2])
  if (lease === undefined) return expect.fail('It was to be claimed.')
  await sessions.append(lease, 0, { ...turnWith('no image'), turnId: 'a' })
  expect([pieces(), holders()]).toEqual([3, 1])
  await sessions.delete(named('b'))
  await store.runs.add(run('c'))
  expect([pieces(), holders()]).toEqual([3, 1])
  await sessions.erase({ tenant: 'acme', owner: 'ann' })
  await clock.advance(1)
  expect([pieces(), holders()]).toEqual([0, 0])
})

it('holds the images of steps, events and records until these are gone, each image once', async () => {
  const { store, sessions, pieces, holders } = opened({ consumers: ['bills'] })
  const image = imageOf(600_000)
  const added = await store.runs.add({ run: 'a', key, agent: 'agent', version: '', task: image }, { claim: hour })
  const lease = added.lease ?? expect.fail('It was to be claimed.')
  for (const id of ['s1', 's2']) await store.runs.record(lease, 'a', { id, body: [image] })
  for (const end of [false, true]) await store.events.append({ key, turnId: 'a' }, 1, [{ image }], { end })
  // The task, the steps and the events.
  expect([pieces(), holders()]).toEqual([3, 3])
  const record = { id: 'r', topic: 'seen', data: image, at: 1 }
  await sessions.append(lease, 0, { ...turnWith('no image', 'a'), records: [record] }, { release: true })
  // The turn, the record and the events.
  expect([pieces(), holders()]).toEqual([3, 3])
  await sessions.rename({ ...key, agent: 'renamed' }, ['agent'])
  expect([pieces(), holders()]).toEqual([3, 2])
  await sessions.delete({ ...key, agent: 'renamed' })
  expect([pieces(), holders()]).toEqual([3, 1])
  await sessions.outbox.done('bills', ['r'])
  await sessions.expire({ olderThan: hour })
  expect([pieces(), holders()]).toEqual([0, 0])
})

it('deletes the images of events some time after the run has ended', async () => {
  const { store, sessions, clock, pieces } = opened({ eventRetention: 1000 })
  const run = (turnId: string) => ({ key, turnId })
  await store.events.append(run('a'), 1, [imageOf(600_000)], { end: true })
  await clock.advance(2000)
  await store.events.append(run('b'), 1, ['no image'], { end: true })
  await sessions.expire({ olderThan: hour })
  expect(pieces()).toBe(0)
})

it('keeps the image of a durable run that was added while its session is being erased', async () => {
  let begun = Number.NaN
  const end = beforeStatementOfNext((sql) => {
    if (sql === 'begin immediate' && ++begun === 2) throw new Error('The process ends.')
  })
  const { store, sessions } = opened()
  await add(sessions, key, turnWith('no image'))
  begun = 0
  await sessions.erase({ tenant: 'acme' }).catch(() => {})
  end()
  await store.runs.add({ run: 'a', key, agent: 'agent', version: '', task: imageOf(600_000) }, { claim: hour })
  await add(sessions, named('b'), turnWith(imageOf(5000)))
  expect((await store.runs.get({ tenant: 'acme', run: 'a' }))?.task).toEqual(imageOf(600_000))
})

it('answers add() of a durable run that is erased at once with store.fenced', async () => {
  const { store, sessions } = opened()
  const adding = store.runs.add({ run: 'a', key, agent: 'agent', version: '', task: imageOf(5_000_000) })
  const added = adding.catch((error: unknown) => error)
  while ((await store.runs.list({ tenant: 'acme', limit: 1 })).items.length === 0) await turn()
  await sessions.erase({ tenant: 'acme' })
  expect(await added).toMatchObject({ code: 'store.fenced' })
})

it('seals each piece where the store is sealed', async () => {
  const { sessions, path, pieces } = opened({ encrypt: aes() })
  await add(sessions, key, turnWith(imageOf(600_000)))
  expect(pieces()).toBe(3)
  expect(
    readdirSync(dirname(path))
      .map((name) => readFileSync(join(dirname(path), name), 'latin1'))
      .join(''),
  ).not.toContain('canary')
})

it('names an image by the keyed digest where there is one', async () => {
  const mac = (bytes: Uint8Array) => new Uint8Array([bytes.length])
  const { sessions, path } = opened({ encrypt: { ...aes(), mac } })
  await add(sessions, key, turnWith(imageOf(600_000)))
  const [row] = raw(path, (db) => db.prepare('select distinct digest from blobs').all([])) as { digest: string }[]
  expect(row?.digest).toHaveLength(2)
})

it.each([
  ['another key', aes(1)],
  ['no encryption', undefined],
])('stores an image again that was stored with %s, and keeps the old bytes', async (_, encrypt) => {
  const image = imageOf(600_000)
  const { path, sessions, store } = opened(encrypt && { encrypt })
  const at = (options: SqliteOptions) => {
    const again = sqlite(path, options)
    onTestFinished(() => again.close())
    return again.sessions
  }
  await add(sessions, named('old'), turnWith(image))
  store.close()
  const rotated = at({ encrypt: aes(2) })
  for (const id of ['new', 'newer']) await add(rotated, named(id), turnWith(image))
  const [old, newer] = [await at(encrypt ? { encrypt } : {}).load(named('old')), await rotated.load(named('newer'))]
  expect([old, newer].map((stored) => isImage(stored, image))).toEqual([true, true])
  expect(raw(path, (db) => db.prepare('select count(*) as n from blobs').get([]))).toMatchObject({ n: 6 })
})

it('does not bring an image back when its run goes on after the erasure', async () => {
  const { sessions, pieces, holders } = opened()
  const lease = await taken(sessions, key)
  const late = sessions.append(lease, 0, turnWith(imageOf(5_000_000))).catch((error: unknown) => error)
  await sessions.erase({ tenant: 'acme', owner: 'ann' })
  expect(isAlliumError(await late, 'store.fenced')).toBe(true)
  await expect(sessions.append(lease, 0, turnWith(imageOf(5_000_000)))).rejects.toMatchObject({ code: 'store.fenced' })
  expect([pieces(), holders()]).toEqual([0, 0])
})

it('drops the pieces of a write that was refused', async () => {
  const { sessions, pieces, holders } = opened()
  const lease = await taken(sessions, key)
  await expect(sessions.append(lease, 7, turnWith(imageOf(600_000)))).rejects.toMatchObject({ code: 'store.conflict' })
  expect([pieces(), holders()]).toEqual([0, 0])
})

it('sweeps what a lost process left an hour ago, and not what is written just now', async () => {
  const { sessions, store, path, clock, pieces, holders } = opened()
  await add(sessions, named('a'), turnWith(imageOf(600_000)))
  raw(path, (db) => db.exec(`update blob_holders set kind = 'write'`))
  await sessions.expire({ olderThan: 10 * hour })
  expect([pieces(), holders()]).toEqual([3, 1])
  await clock.advance(hour + 1)
  await store.sessions.expire({ olderThan: 10 * hour })
  expect([pieces(), holders()]).toEqual([0, 0])
})

it('writes each piece in a transaction of its own, and lets other work run between two', async () => {
  let commits = 0
  const end = beforeStatementOfNext((sql) => {
    if (sql === 'commit') commits++
  })
  const { sessions } = opened({ synchronous: 'normal' })
  const lease = await taken(sessions, key)
  let turns = 0
  const beat = () => {
    turns++
    next = setImmediate(beat)
  }
  let next = setImmediate(beat)
  commits = 0
  await sessions.append(lease, 0, turnWith(imageOf(2_000_000)))
  end()
  clearImmediate(next)
  expect(commits).toBe(10)
  expect(turns).toBeGreaterThan(16)
})

it('continues a write whose first pieces are there, and reads an image only whole', async () => {
  const { sessions, path, pieces } = opened()
  await add(sessions, named('a'), turnWith(imageOf(600_000)))
  raw(path, (db) => db.exec('delete from blobs where piece > 0'))
  await expect(sessions.load(named('a'))).rejects.toMatchObject({ code: 'store.corrupt' })
  await add(sessions, named('b'), turnWith(imageOf(600_000)))
  expect(pieces()).toBe(3)
  expect((await sessions.load(named('a')))?.history).toEqual(turnWith(imageOf(600_000)).messages)
})

it.each([
  ['bytes', (image: Uint8Array) => image],
  ['base64', (image: Uint8Array) => Buffer.from(image).toString('base64')],
])('stores an image in time that grows with its length, as %s', async (_, dataOf) => {
  const { sessions } = opened({ synchronous: 'normal' })
  let count = 0
  const store = async (length: number) => {
    const lease = await taken(sessions, named(String(++count)))
    await sessions.append(lease, 0, turnWith(dataOf(imageOf(length, String(count)))))
  }
  expect(await growth(store, 1_000_000, 8_000_000, 24)).toBeLessThan(24)
})

it('gives an image back to the model, the snapshot and a fork of a session that another process opens', async () => {
  const { store, path, pieces } = opened()
  const model = scriptedModel(['A cat.', 'Still a cat.', 'The same cat.'])
  const principal = { tenantId: 'acme', userId: 'ann' }
  const image = { type: 'image' as const, data: imageOf(600_000), mediaType: 'image/png' }
  const first = new Agent({ model }).use(persist({ store: store.sessions })).session({ id: 'chat', principal })
  await first.run([{ role: 'user', content: [image] }])
  await first.close()
  const again = sqlite(path)
  onTestFinished(() => again.close())
  const session = new Agent({ model }).use(persist({ store: again.sessions })).session({ id: 'chat', principal })
  await session.run('What is it now?')
  await session.fork({ id: 'fork' }).run('And in the fork?')
  const { history } = await session.snapshot()
  const seen = [history, model.requests[1]?.messages, model.requests[2]?.messages]
  const images = seen.map((messages) => messages?.[0]?.content[0] as { data: Uint8Array })
  expect(images.map(({ data }) => Buffer.compare(data, image.data))).toEqual([0, 0, 0])
  expect(pieces()).toBe(3)
})

it('tells that an image has no room, and stores a smaller one in the room that it leaves', async () => {
  const { sessions, pieces } = opened({ maxBytes: 2_000_000 })
  await expect(add(sessions, named('a'), turnWith(imageOf(5_000_000)))).rejects.toMatchObject({ code: 'store.full' })
  await add(sessions, named('b'), turnWith(imageOf(1_000_000, 'smaller ')))
  expect(pieces()).toBe(4)
})

it('keeps images in a store that ends with the process', async () => {
  const store = sqlite(':memory:')
  await add(store.sessions, key, turnWith(imageOf(3_000_000)))
  const stored = await store.sessions.load(key)
  const part = stored?.history[0]?.content[0] as { data: Uint8Array }
  expect(Buffer.compare(part.data, imageOf(3_000_000))).toBe(0)
  await store.sessions.delete(key)
  store.close()
})
