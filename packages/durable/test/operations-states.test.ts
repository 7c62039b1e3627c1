import { expect, it } from 'vitest'
import { idleScene, liveScene } from './operations-scene.ts'

it('says which process holds a run and until when, and calls it lost once that has passed', async () => {
  const { ops, add, claim, clock } = idleScene()
  await add('one')
  await claim('host-a:1')
  const now = clock.now()
  const [held] = (await ops.list()).items
  expect(held).toMatchObject({ status: 'running', worker: 'host-a:1', heldUntil: now + 1000, addedAt: now })
  await clock.advance(1000)
  const [lost] = (await ops.list({ status: 'lost' })).items
  expect([lost?.status, lost?.worker, lost?.heldUntil]).toEqual(['lost', 'host-a:1', undefined])
  expect((await ops.list({ status: 'running' })).items).toEqual([])
  expect((await ops.summary()).groups).toMatchObject([{ status: 'lost', count: 1 }])
  await claim('host-b:2')
  const { run, timeline } = await ops.show('one')
  expect([run.status, run.worker]).toEqual(['running', 'host-b:2'])
  expect(timeline.flatMap((entry) => (entry.type === 'claimed' ? [entry.worker] : []))).toEqual([
    'host-a:1',
    'host-b:2',
  ])
})

it('names the process that executes a run', async () => {
  const { ops, ended } = liveScene(['Done.'])
  const { run } = await ended()
  expect((await ops.show(run)).timeline).toContainEqual(
    expect.objectContaining({ type: 'claimed', worker: 'host-a:1' }),
  )
})

it.each([
  ['a TypeError of a layer', new TypeError('secret of a layer'), 'run.failed'],
  ['a 503 of the provider', Object.assign(new Error('secret of a provider'), { status: 503 }), 'model.failed'],
  ['a timeout', Object.assign(new Error('secret'), { name: 'TimeoutError' }), 'model.timeout'],
  ['an error with a code of its own', Object.assign(new Error('secret'), { code: 'ECONNREFUSED' }), 'run.failed'],
])('shows a code of Allium for %s, and no content', async (_, error, code) => {
  const layer = {
    name: 'broken',
    turn() {
      throw error
    },
  }
  const { ops, ended } = liveScene(['Done.'], { layers: [layer] })
  const { run } = await ended()
  await expect.poll(async () => (await ops.show(run)).run.code).toBe(code)
  expect((await ops.list({ code })).items).toHaveLength(1)
  expect((await ops.summary()).failures).toEqual([{ code, count: 1 }])
  expect(JSON.stringify([await ops.show(run), await ops.list()])).not.toContain('secret')
})

it('shows the runs of queues that have not ended, with their limits', async () => {
  const { ops, add, claim, clock } = idleScene({ queues: { emails: { concurrency: 1 }, reports: {} } })
  await add('a', { queue: 'emails' })
  await claim()
  await clock.advance(5000)
  await add('b', { queue: 'emails' })
  await add('c')
  await clock.advance(200)
  expect(await ops.queues()).toEqual([
    { queue: 'default', queued: 1, running: 0, lost: 0, oldestAge: 200 },
    { queue: 'emails', queued: 1, running: 0, lost: 1, oldestAge: 200, limits: { concurrency: 1 } },
    { queue: 'reports', queued: 0, running: 0, lost: 0, oldestAge: 0, limits: {} },
  ])
  expect((await ops.list({ queue: 'emails' })).items.map(({ run }) => run)).toEqual(['b', 'a'])
  expect((await ops.list({ owner: 'ann', session: 's-c' })).items.map(({ run }) => run)).toEqual(['c'])
})

it('finds a run by the first characters of its id, and names all that begin with them', async () => {
  const { ops, add } = idleScene()
  await add('abcd-1')
  await add('abcd-2', { tenant: 'globex' })
  await add('abce-3')
  expect((await ops.show('abce')).run.run).toBe('abce-3')
  await expect(ops.show('abcd')).rejects.toMatchObject({
    code: 'run.options',
    message: expect.stringMatching(/abcd-2 \(tenant globex\), abcd-1 \(tenant acme\)/),
  })
  expect((await ops.within(['globex']).show('abcd')).run.run).toBe('abcd-2')
  for (const short of ['abc', 'a', 'bcd-'])
    await expect(ops.show(short)).rejects.toMatchObject({ code: 'session.not_found' })
})

it.each(['%', '_bcd', 'abcd%', "abcd' or 1=1", 'abcd\u{10ffff}'])('takes %s as the text of an id', async (id) => {
  const { ops, add } = idleScene()
  await add('abcd-1')
  await expect(ops.show(id)).rejects.toMatchObject({ code: 'session.not_found' })
})

it('accepts a cursor only for the filter and the tenants that it comes from', async () => {
  const { ops, add } = idleScene()
  for (const run of ['a', 'b', 'c']) await add(run)
  const { cursor } = await ops.list({ agent: 'support', limit: 1 })
  expect((await ops.list({ agent: 'support', limit: 1, cursor })).items.map(({ run }) => run)).toEqual(['b'])
  for (const filter of [{}, { version: 'support' }, { agent: 'other' }, { agent: 'support', olderThan: 0 }])
    await expect(ops.list({ ...filter, cursor })).rejects.toMatchObject({ code: 'store.key' })
  await expect(ops.within(['acme']).list({ agent: 'support', cursor })).rejects.toMatchObject({ code: 'store.key' })
})
