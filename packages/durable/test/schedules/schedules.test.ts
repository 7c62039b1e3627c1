import { manualClock } from '@allium/testing'
import { expect, it } from 'vitest'
import { FailingSeals } from '../../../testing/src/conformance/sealed/failing-seals.ts'
import { schedules } from '../../src/schedules.ts'
import { ann, daily, minute, untilEnded, world } from './world.ts'

const hour = 60 * minute

it('starts a run at each tick, in a session named after the tick', async () => {
  const { clock, process } = world()
  const { runs, plan, model } = process()
  const created = await plan.create({ ...daily, cron: '0 8-9 * * *', tz: 'Europe/Berlin' })
  expect(created).toMatchObject({ id: 'report', owner: 'ann', missed: 'latest', input: daily.input })
  expect(created.nextAt).toBe(Date.parse('2026-11-27T08:00:00Z'))
  await clock.advance(2 * minute)
  expect(await untilEnded(runs, 1)).toEqual(['report:2026-11-27T08:00:00.000Z'])
  expect(model.requests[0]?.messages.at(-1)?.content).toBe('Write the report')
  const { nextAt, lastAt, lastRun } = await plan.get('report', { principal: ann })
  expect([nextAt, lastAt]).toEqual([Date.parse('2026-11-28T07:00:00Z'), created.nextAt])
  expect(await runs.get(lastRun ?? '', { principal: ann })).toMatchObject({ text: 'Done.', runAt: created.nextAt })
})

it('runs all ticks in one session if it is named', async () => {
  const { clock, process } = world()
  const { runs, plan, model } = process()
  await plan.create({ ...daily, cron: '* * * * *', sessionId: 'chat' })
  for (let ticks = 1; ticks <= 3; ticks++) {
    await clock.advance(minute)
    expect(await untilEnded(runs, ticks)).toEqual(Array.from({ length: ticks }, () => 'chat'))
  }
  expect(model.requests[2]?.messages).toHaveLength(5)
})

it('runs its ticks in a queue, with a priority', async () => {
  const { clock, process } = world()
  const { runs, plan } = process({ queues: { reports: { concurrency: 1 } } })
  await expect(plan.create({ ...daily, queue: 'mails' })).rejects.toThrow('Use one of "default", "reports"')
  await expect(plan.create({ ...daily, priority: 0.5 })).rejects.toMatchObject({ code: 'run.options' })
  await plan.create({ ...daily, queue: 'reports', priority: 5 })
  await clock.advance(2 * minute)
  await untilEnded(runs, 1)
  const { lastRun = '' } = await plan.get('report', { principal: ann })
  expect(await runs.get(lastRun, { principal: ann })).toMatchObject({ queue: 'reports', priority: 5 })
})

it.each([
  ['latest', ['10:00']],
  ['skip', []],
  ['all', ['08:00', '09:00', '10:00']],
] as const)('after a downtime, with missed: %s, runs the ticks %s', async (missed, times) => {
  const { clock, process } = world()
  const dead = process({ own: manualClock(clock.now()) })
  await dead.plan.create({ ...daily, cron: '0 * * * *', missed })
  await clock.advance(2.5 * hour)
  const { runs, plan } = process()
  await runs.recover()
  const expected = times.map((time) => `report:2026-11-27T${time}:00.000Z`)
  expect(await untilEnded(runs, times.length)).toEqual(expected)
  await runs.recover()
  expect(await untilEnded(runs, times.length)).toEqual(expected)
  expect((await plan.get('report', { principal: ann })).nextAt).toBe(Date.parse('2026-11-27T11:00:00Z'))
})

it('starts no run while the one of an earlier tick is active, and then runs the latest tick', async () => {
  const { clock, process } = world()
  let end = (_: string) => {}
  const answer = () => new Promise<string>((resolve) => (end = resolve))
  const { runs, plan, model } = process({ answer })
  await plan.create({ ...daily, cron: '* * * * *' })
  await clock.advance(2.5 * minute)
  expect(model.requests).toHaveLength(1)
  end('Done.')
  await untilEnded(runs, 1)
  await expect.poll(() => runs.recover().then(() => model.requests.length), { timeout: 15_000 }).toBe(2)
  end('Done.')
  expect((await untilEnded(runs, 2))[1]).toBe('report:2026-11-27T08:01:00.000Z')
})

it('keeps the next tick when a process creates the schedule again, so that a deploy skips none', async () => {
  const { clock, process } = world()
  await process({ own: manualClock(clock.now()) }).plan.create(daily)
  await clock.advance(hour)
  const { runs, plan } = process()
  await plan.create({ ...daily, input: 'A new text' })
  await runs.recover()
  expect(await untilEnded(runs, 1)).toEqual(['report:2026-11-27T08:00:00.000Z'])
})

it('pauses and resumes a schedule, and runs no tick of the time between', async () => {
  const { clock, process } = world()
  const { runs, plan } = process()
  await plan.create(daily)
  const paused = await plan.pause('report', { principal: ann, reason: 'holiday' })
  expect([paused.paused, paused.nextAt]).toEqual(['holiday', undefined])
  await clock.advance(3 * minute)
  const resumed = await plan.resume('report', { principal: ann })
  expect([resumed.paused, resumed.nextAt]).toEqual([undefined, Date.parse('2026-11-28T08:00:00Z')])
  await runs.recover()
  expect(await untilEnded(runs, 0)).toEqual([])
})

it('triggers a run at once, also of a paused schedule, and leaves its ticks alone', async () => {
  const { process } = world()
  const { runs, plan } = process()
  const { nextAt } = await plan.create(daily)
  const { run, sessionId } = await plan.trigger('report', { principal: ann })
  expect(await untilEnded(runs, 1)).toEqual([sessionId])
  expect(await plan.get('report', { principal: ann })).toMatchObject({ nextAt })
  expect((await runs.get(run, { principal: ann })).text).toBe('Done.')
  await plan.pause('report', { principal: ann })
  await plan.trigger('report', { principal: ann })
  await untilEnded(runs, 2)
})

it("answers about another owner's or agent's schedule as about none", async () => {
  const { process } = world()
  const { plan } = process()
  await plan.create(daily)
  const bob = { principal: { tenantId: 'acme', userId: 'bob' } }
  for (const ask of ['get', 'pause', 'resume', 'trigger'] as const)
    await expect(plan[ask]('report', bob)).rejects.toMatchObject({ code: 'session.not_found' })
  expect(await plan.delete('report', bob)).toBe(false)
  const other = process({ name: 'other' }).plan
  await expect(other.get('report', { principal: ann })).rejects.toMatchObject({ code: 'session.not_found' })
  expect((await other.list({ tenant: 'acme' })).items).toEqual([])
  expect([await plan.delete('report', { principal: ann }), (await plan.list({ tenant: 'acme' })).items]).toEqual([
    true,
    [],
  ])
})

it('executes a schedule of a former name of the agent under its new name', async () => {
  const { clock, process } = world()
  await process({ own: manualClock(clock.now()) }).plan.create({ ...daily, sessionId: 'chat' })
  const { runs } = process({ name: 'writer', formerNames: ['reporter'] })
  await clock.advance(2 * minute)
  await untilEnded(runs, 1)
  expect((await runs.list({ tenant: 'acme' })).items[0]).toMatchObject({ agent: 'writer', key: { agent: 'writer' } })
})

it('needs resolvePrincipal where a schedule has a principal', async () => {
  const { process } = world()
  const { plan } = process({ resolves: false })
  await expect(plan.create(daily)).rejects.toMatchObject({
    code: 'run.options',
    message: expect.stringContaining('resolvePrincipal'),
  })
  const { principal: _, ...system } = daily
  expect(await plan.create(system)).toMatchObject({ owner: '' })
})

it('executes nothing for an owner who is not there any more', async () => {
  const { clock, users, process } = world()
  const { runs, plan, model } = process()
  await plan.create(daily)
  users.delete('ann')
  await clock.advance(2 * minute)
  await untilEnded(runs, 1, 'failed')
  const { items } = await runs.list({ tenant: 'acme' })
  expect([items[0]?.code, model.requests]).toEqual(['run.principal', []])
})

it('executes nothing with the stored rights, in a process that cannot look them up', async () => {
  const { clock, process } = world()
  const dead = process({ own: manualClock(clock.now()) })
  await dead.plan.create(daily)
  const { runs, model } = process({ resolves: false })
  await clock.advance(2 * minute)
  expect((await runs.list({ tenant: 'acme' })).items).toEqual([])
  await dead.runs.drain()
  await dead.plan.trigger('report', { principal: ann })
  expect([(await untilEnded(runs, 1, 'failed')).length, model.requests]).toEqual([1, []])
})

it('pauses a schedule whose key was lost, with the reason, and executes the others', async () => {
  const encrypt = new FailingSeals()
  const { clock, process } = world({ encrypt })
  const { runs, plan } = process()
  for (const id of ['lost', 'report']) await plan.create({ ...daily, id })
  Object.assign(encrypt, { failure: 'gone', rows: (row: string) => row.includes('"lost"') })
  await clock.advance(2 * minute)
  expect(await untilEnded(runs, 1)).toEqual(['report:2026-11-27T08:00:00.000Z'])
  const { items } = await plan.list({ tenant: 'acme' })
  expect(items.map(({ id, paused }) => [id, paused?.split(':')[0]])).toEqual([
    ['lost', 'store.sealed'],
    ['report', undefined],
  ])
})

it('stops with its owner: an erased owner has no schedules and no further runs', async () => {
  const { clock, store, process } = world()
  const { runs, plan } = process()
  await plan.create(daily)
  await store.sessions.erase({ tenant: 'acme', owner: 'ann' })
  await clock.advance(2 * minute)
  expect([(await plan.list({ tenant: 'acme' })).items, (await runs.list({ tenant: 'acme' })).items]).toEqual([[], []])
})

it.each([
  [{ id: '' }, 'id of a schedule'],
  [{ id: 'x'.repeat(129) }, 'id of a schedule'],
  [{ cron: '* * * * * *' }, 'five'],
  [{ tz: 'Mars/Phobos' }, 'time zone'],
  [{ missed: 'some' as never }, "'skip', 'latest' or 'all'"],
  [{ input: undefined as never }, 'input'],
  [{ input: 'x'.repeat(300_000) }, 'at most 262144'],
  [{ context: { run() {} } }, 'plain data'],
  [{ every: '1s' } as never, 'every'],
])('rejects %j', async (more, reason) => {
  const { plan } = world().process()
  await expect(plan.create({ ...daily, ...more })).rejects.toMatchObject({
    code: 'run.options',
    message: expect.stringContaining(reason),
  })
})

it('bounds the schedules of an owner', async () => {
  const { plan } = world().process({ perOwner: 2 })
  for (const id of ['a', 'b', 'a']) await plan.create({ ...daily, id })
  await expect(plan.create({ ...daily, id: 'c' })).rejects.toMatchObject({ code: 'run.options' })
})

it('takes the object of durable(), with a store that has schedules', () => {
  const { process } = world()
  const { runs } = process()
  for (const other of [{ ...runs }, undefined, {}])
    expect(() => schedules(other as never)).toThrow(expect.objectContaining({ code: 'agent.options' }))
  expect(() => schedules(runs, { perOwner: 0.5 })).toThrow(expect.objectContaining({ code: 'agent.options' }))
})
