import { isAlliumError, type Lease, type SessionKey, type StoredTurn } from '@allium/core'
import type { SessionStore, StoredSession } from '@allium/store'
import { afterAll, describe, expect, it } from 'vitest'
import { aes } from './aes.ts'
import { sql, storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const url = server?.url ?? ''
const stores = storesAt(url)
afterAll(async () => {
  await stores.end()
  await server?.end()
})

const key: SessionKey = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const named = (sessionId: string, owner = 'ann') => ({ ...key, sessionId, owner })

function turnWith(data: Uint8Array | string): StoredTurn {
  const usage = { inputTokens: 0, outputTokens: 0, calls: 1 }
  const messages = [{ role: 'user' as const, content: [{ type: 'image' as const, data, mediaType: 'image/png' }] }]
  const own = { rootId: 't1', agent: 'agent', status: 'completed' as const, startedAt: 1, endedAt: 2, answer: null }
  return { ...own, turnId: 't1', usage, records: [], from: 0, messages, rest: { state: {} } }
}
const imageOf = (size: number, text = 'canary-4711 ') => new Uint8Array(Buffer.alloc(size, text))

/** Whether a session has one message with this image: comparing lists of numbers would take seconds. */
function isImage(stored: StoredSession | undefined, image: Uint8Array): boolean {
  const [message] = stored?.history ?? []
  const [part] = typeof message?.content === 'object' ? message.content : []
  return part?.type === 'image' && Buffer.from(part.data as Uint8Array).equals(image)
}

function opened(options: Parameters<typeof stores.fresh>[0] = {}) {
  const store = stores.fresh(options)
  const s = `"${stores.schemaOf(store)}"`
  const count = async (table: string) => Number((await sql(url, `select count(*) as n from ${s}.${table}`))[0]?.n)
  const counts = async () => [await count('blobs'), await count('blob_holders'), await count('unheld_blobs')]
  return { store, sessions: store.sessions, s, counts }
}

async function taken(sessions: SessionStore, where: SessionKey): Promise<Lease> {
  const { lease } = await sessions.acquire(where, 60_000)
  return lease ?? expect.fail('Somebody has it.')
}

async function add(sessions: SessionStore, where: SessionKey, turn: StoredTurn): Promise<void> {
  const lease = await taken(sessions, where)
  await sessions.append(lease, lease.version, turn, { release: true })
}

describe.skipIf(server === undefined)('blobs in Postgres', () => {
  it('stores the same image of an owner once, as bytes or as base64, and that of another owner apart', async () => {
    const { sessions, counts } = opened()
    const image = imageOf(600_000)
    await add(sessions, named('a'), turnWith(image))
    await add(sessions, named('b'), turnWith(Buffer.from(image).toString('base64')))
    expect(await counts()).toEqual([3, 2, 0])
    await add(sessions, named('a', 'bob'), turnWith(image))
    expect(await counts()).toEqual([6, 3, 0])
  })

  it('holds the image of a run that goes on once, however often it is checkpointed, and through to its end', async () => {
    const { sessions, counts } = opened()
    const lease = await taken(sessions, key)
    for (let step = 0; step < 3; step++)
      await sessions.checkpoint(lease, 0, { ...turnWith(imageOf(600_000)), status: 'running' })
    expect((await counts()).slice(0, 2)).toEqual([3, 1])
    await sessions.append(lease, 0, turnWith(imageOf(600_000)))
    expect((await counts()).slice(0, 2)).toEqual([3, 1])
  })

  it('deletes an image with the last session that has it, also of an agent that was renamed', async () => {
    const { sessions, counts } = opened()
    for (const id of ['a', 'b']) await add(sessions, named(id), turnWith(imageOf(6_000_000)))
    await sessions.delete(named('a'))
    expect(await counts()).toEqual([23, 1, 0])
    const renamed = { ...named('b'), agent: 'renamed' }
    expect(await sessions.rename(renamed, ['agent'])).toBe(true)
    expect(isImage(await sessions.load(renamed), imageOf(6_000_000))).toBe(true)
    await sessions.delete(renamed)
    expect(await counts()).toEqual([0, 0, 0])
  })

  it('deletes the images of sessions that expire, and of an owner or tenant that is erased', async () => {
    const { sessions, counts } = opened()
    await add(sessions, key, turnWith(imageOf(600_000)))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await sessions.expire({ olderThan: 10 })).toBe(1)
    expect(await counts()).toEqual([0, 0, 0])
    for (const of of [{ tenant: 'acme' }, { tenant: 'acme', owner: 'ann' }]) {
      await add(sessions, key, turnWith(imageOf(600_000)))
      await sessions.erase(of)
      expect(await counts()).toEqual([0, 0, 0])
    }
  })

  it('does not bring an image back when its run goes on after the erasure', async () => {
    const { sessions, counts } = opened()
    const lease = await taken(sessions, key)
    const late = sessions.append(lease, 0, turnWith(imageOf(5_000_000))).catch((error: unknown) => error)
    await sessions.erase({ tenant: 'acme', owner: 'ann' })
    expect(isAlliumError(await late, 'store.fenced')).toBe(true)
    await sessions.expire({ olderThan: 60_000 })
    expect(await counts()).toEqual([0, 0, 0])
  })

  it('drops the pieces of a write that was refused, and sweeps those that a lost process left an hour ago', async () => {
    const { sessions, counts, s } = opened()
    const lease = await taken(sessions, key)
    await expect(sessions.append(lease, 7, turnWith(imageOf(600_000)))).rejects.toMatchObject({
      code: 'store.conflict',
    })
    await sessions.append(lease, 0, turnWith(imageOf(5000)))
    expect(await counts()).toEqual([1, 1, 0])
    await sql(url, `update ${s}.blob_holders set kind = 'write', at = at - 3500000`)
    await sessions.expire({ olderThan: 60_000 })
    expect(await counts()).toEqual([1, 1, 0])
    await sql(url, `update ${s}.blob_holders set at = at - 200000`)
    await sessions.expire({ olderThan: 60_000 })
    expect(await counts()).toEqual([0, 0, 0])
  })

  it('holds the image of a durable run until the run ends or is erased', async () => {
    const { store, sessions, counts } = opened()
    const run = (id: string) => ({ run: id, key: named(id), agent: 'agent', version: '', task: imageOf(600_000) })
    const { lease } = await store.runs.add(run('a'), { claim: 60_000 })
    await store.runs.add(run('b'))
    expect(await counts()).toEqual([3, 2, 0])
    if (lease === undefined) return expect.fail('It was to be claimed.')
    await sessions.append(lease, 0, { ...turnWith('no image'), turnId: 'a' })
    expect((await counts()).slice(0, 2)).toEqual([3, 1])
    await sessions.delete(named('b'))
    expect(await counts()).toEqual([0, 0, 0])
    await store.runs.add(run('c'))
    await sessions.erase({ tenant: 'acme', owner: 'ann' })
    expect(await counts()).toEqual([0, 0, 0])
  })

  it('keeps the image of a durable run that was added to a session that an erasure has not reached yet', async () => {
    const { store, sessions, s } = opened()
    for (const [round, options] of [{}, { claim: 60_000 }].entries()) {
      const where = named(`chat ${round}`)
      await add(sessions, where, turnWith('no image'))
      const [begun] = await sql(url, `select * from ${s}.begin_erasure('acme', 'ann', null, null)`)
      const run = { run: `r${round}`, key: where, agent: 'agent', version: '' }
      await store.runs.add({ ...run, task: imageOf(600_000) }, options)
      const step = `select found_ from ${s}.erase_some('acme', 'ann', $1, $2, 500)`
      while (Number((await sql(url, step, [begun?.token_, begun?.run_]))[0]?.found_) > 0);
      await sessions.expire({ olderThan: 60_000 })
      const task = (await store.runs.get({ tenant: 'acme', run: run.run }))?.task
      expect(Buffer.from(task as Uint8Array).equals(imageOf(600_000))).toBe(true)
      const found = await store.runs.claim({
        agents: [{ name: 'agent', version: '' }],
        limit: 9,
        ms: 60_000,
        alone: true,
      })
      expect(found.map((one) => one.run.run)).toEqual(round === 0 ? ['r0'] : [])
    }
  })

  it('holds the images of steps, events and records until these are gone, each image once', async () => {
    const { store, sessions, counts } = opened()
    const image = imageOf(600_000)
    const added = await store.runs.add({ run: 'a', key, agent: 'agent', version: '', task: image }, { claim: 60_000 })
    const lease = added.lease ?? expect.fail('It was to be claimed.')
    for (const id of ['s1', 's2']) await store.runs.record(lease, 'a', { id, body: [image] })
    await store.events.append({ key, turnId: 'a' }, 1, [{ image }])
    await store.events.append({ key, turnId: 'a' }, 1, [{ image }], { end: true })
    expect((await counts()).slice(0, 2)).toEqual([3, 3])
    const record = { id: 'r', topic: 'seen', data: image, at: 1 }
    await sessions.append(lease, 0, { ...turnWith('no image'), turnId: 'a', records: [record] }, { release: true })
    // The turn, the record and the events.
    expect((await counts()).slice(0, 2)).toEqual([3, 3])
    await sessions.rename({ ...key, agent: 'renamed' }, ['agent'])
    expect((await counts()).slice(0, 2)).toEqual([3, 2])
    await sessions.delete({ ...key, agent: 'renamed' })
    const [taken] = await sessions.outbox.claim('bills', 1, 60_000)
    expect(Buffer.from(taken?.data as Uint8Array).equals(image)).toBe(true)
    await sessions.erase({ tenant: 'acme', owner: 'ann' })
    expect(await counts()).toEqual([0, 0, 0])
  })

  it('seals each piece where the store is sealed', async () => {
    const { sessions, s } = opened({ encrypt: aes() })
    await add(sessions, key, turnWith(imageOf(600_000)))
    const rows = await sql(url, `select body from ${s}.blobs`)
    expect(rows.map(({ body }) => (body as Buffer).includes('canary'))).toEqual([false, false, false])
    expect(isImage(await sessions.load(key), imageOf(600_000))).toBe(true)
  })

  it.each([
    ['another key', aes(1)],
    ['no encryption', undefined],
  ])('stores an image again that was stored with %s, and keeps the old bytes', async (_, encrypt) => {
    const image = imageOf(600_000)
    const { store, sessions, counts } = opened(encrypt && { encrypt })
    await add(sessions, named('old'), turnWith(image))
    const rotated = stores.again(store, { encrypt: aes(2) }).sessions
    for (const id of ['new', 'newer']) await add(rotated, named(id), turnWith(image))
    const stored = [await sessions.load(named('old')), await rotated.load(named('newer'))]
    expect(stored.map((one) => isImage(one, image))).toEqual([true, true])
    expect((await counts())[0]).toBe(6)
  })

  it('writes pieces of less than 256 kB, each in a statement of its own', async () => {
    const { sessions, s } = opened()
    await add(sessions, key, turnWith(imageOf(2_000_000)))
    const [row] = await sql(
      url,
      `select max(length(body)) as most, count(distinct xmin::text) as writes from ${s}.blobs`,
    )
    expect(Number(row?.most)).toBeLessThan(262_144)
    expect(Number(row?.writes)).toBe(8)
  })

  it('keeps one whole copy where many sessions of an owner store and delete the same image at once', async () => {
    const { sessions, counts } = opened()
    for (let round = 0; round < 5; round++) {
      const ids = Array.from({ length: 6 }, (_, i) => named(`${round} ${i}`))
      await Promise.all(ids.map((id) => add(sessions, id, turnWith(imageOf(600_000)))))
      const next = named(`${round} kept`)
      await Promise.all([...ids.map((id) => sessions.delete(id)), add(sessions, next, turnWith(imageOf(600_000)))])
      expect(isImage(await sessions.load(next), imageOf(600_000))).toBe(true)
      await sessions.delete(next)
    }
    expect(await counts()).toEqual([0, 0, 0])
  })
})
