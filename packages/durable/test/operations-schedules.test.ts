import { expect, it } from 'vitest'
import { idleScene } from './operations-scene.ts'

const sam = { operator: 'sam', reason: 'ticket 7' }
const hour = 3_600_000

async function scheduled() {
  const scene = idleScene()
  const { store, clock } = scene
  const put = (id: string, { tenant = 'acme', owner = 'ann' } = {}) =>
    store.schedules.put(
      {
        ...{ tenant, owner, id, agent: 'support', cron: '0 * * * *', tz: 'UTC', missed: 'latest' },
        ...{ request: { input: 'my secret plan' }, nextAt: clock.now() + hour },
      },
      { agents: ['support'], perOwner: 9 },
    )
  await put('report')
  await put('report', { tenant: 'globex', owner: 'bob' })
  await put('check')
  return { ...scene, put, due: () => store.schedules.claimDue({ agents: ['support'], limit: 9, ms: 1000 }) }
}

it('lists the schedules of all tenants or some, without their requests', async () => {
  const { ops } = await scheduled()
  const page = await ops.schedules.list({ limit: 2 })
  const rest = await ops.schedules.list({ limit: 2, cursor: page.cursor })
  expect([...page.items, ...rest.items].map(({ tenant, owner, id }) => [tenant, owner, id])).toEqual([
    ['acme', 'ann', 'check'],
    ['acme', 'ann', 'report'],
    ['globex', 'bob', 'report'],
  ])
  expect((await ops.within(['globex']).schedules.list()).items).toHaveLength(1)
  expect((await ops.within(['globex']).schedules.list({ tenant: 'acme' })).items).toEqual([])
  expect((await ops.schedules.list({ paused: true })).items).toEqual([])
  expect(JSON.stringify(page)).not.toContain('secret')
  await expect(ops.schedules.list({ paused: true, cursor: page.cursor })).rejects.toMatchObject({ code: 'store.key' })
})

it('pauses and resumes a schedule of any owner, and records the operator', async () => {
  const { ops, store, audited } = await scheduled()
  expect(await ops.schedules.pause('check', sam)).toMatchObject({ id: 'check', paused: true })
  expect((await ops.schedules.list({ paused: true })).items.map(({ id }) => id)).toEqual(['check'])
  const stored = await store.schedules.get({ tenant: 'acme', owner: 'ann', id: 'check' })
  expect(stored?.schedule.paused).toBe('ticket 7')
  expect((await ops.schedules.resume('check', sam)).nextAt).toBeGreaterThan(0)
  const types = ['operator:schedule_pause', 'operator:schedule_resume']
  expect(await audited()).toMatchObject(types.map((type) => ({ type, schedule: 'check', user: 'ann', ...sam })))
})

it('makes a schedule due now', async () => {
  const { ops, due, clock } = await scheduled()
  expect(await due()).toEqual([])
  await ops.schedules.run('check')
  expect((await due()).map(({ schedule }) => [schedule.id, schedule.nextAt])).toEqual([['check', clock.now()]])
  await ops.schedules.pause('check')
  await expect(ops.schedules.run('check')).rejects.toMatchObject({ code: 'run.options' })
})

it('asks for the tenant or the owner if several have a schedule with the id', async () => {
  const { ops } = await scheduled()
  await expect(ops.schedules.pause('report')).rejects.toMatchObject({
    code: 'run.options',
    message: expect.stringContaining('ann (tenant acme), bob (tenant globex)'),
  })
  expect(await ops.schedules.pause('report', { owner: 'bob' })).toMatchObject({ tenant: 'globex', paused: true })
  await expect(ops.within(['acme']).schedules.pause('nothing')).rejects.toMatchObject({ code: 'session.not_found' })
  await expect(ops.within(['acme']).schedules.resume('report', { owner: 'bob' })).rejects.toMatchObject({
    code: 'session.not_found',
  })
})

it('changes no schedule if the audit fails', async () => {
  const scene = await scheduled()
  const { operations } = await import('../src/operations.ts')
  const audit = () => {
    throw new Error('The disk is full.')
  }
  const ops = operations({ store: scene.store, clock: scene.clock, audit })
  await expect(ops.schedules.pause('check', sam)).rejects.toMatchObject({ code: 'store.unavailable' })
  expect((await scene.ops.schedules.list({ paused: true })).items).toEqual([])
})
