import { Agent, type AnyMiddleware, type ToolContext } from '@allium/core'
import { persist } from '@allium/memory'
import { usage, verify } from '@allium/observe'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { afterEach, expect, it } from 'vitest'
import { type Durable, durable } from '../src/index.ts'
import { type OperationsOptions, operations } from '../src/operations.ts'

const call: ScriptedStep = { toolCalls: [{ name: 'pay', callId: 'c1', args: { card: '4242' } }] }
const logger = { warn() {}, error() {} }
const dana = { operator: 'dana', reason: 'ticket 7' }
const open: Durable[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.drain()))
})

/** An agent with durable runs, and the operations on its store. */
function scene(
  steps: readonly ScriptedStep[],
  { pay = (_: ToolContext): unknown => 'paid', layers = [] as AnyMiddleware[], ...more } = {},
) {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const tool = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: (_: unknown, ctx: ToolContext) => pay(ctx) }
  const tools = [{ ...tool, ...more } as never]
  const agent = new Agent({ name: 'support', version: '1', model: scriptedModel(steps), tools, clock })
  const runs = durable(agent.use(persist({ store: store.sessions })).use(layers), { store, lease: 1000, clock, logger })
  open.push(runs)
  const start = async (tenantId = 'acme', sessionId = 'chat') => {
    const principal = { tenantId, userId: 'ann' }
    const { run } = await runs.start({ principal, sessionId, input: 'my secret plan' })
    return { run, principal, key: { tenant: tenantId, owner: 'ann', agent: 'support', sessionId } }
  }
  const ended = async (started: Awaited<ReturnType<typeof start>>) => {
    for await (const _ of runs.attach(started.run, started)) void _
    return started
  }
  const ops = (options: Partial<OperationsOptions> = {}) => operations({ store, clock, ...options })
  return { clock, store, runs, start, ended, ops }
}

it('shows the steps of a run with their kinds, calls and claims, and no content', async () => {
  const { start, ended, ops } = scene([call, 'Done.'])
  const { run } = await ended(await start())
  const shown = await ops().show(run)
  expect(shown.timeline.map(({ at: _, ...entry }) => entry)).toEqual([
    { type: 'added' },
    { type: 'claimed', attempt: 1, worker: expect.stringMatching(/:\d+$/) },
    { type: 'step', step: `${run}:start`, kind: 'start', claim: 1 },
    { type: 'step', step: `${run}:model:0:1`, kind: 'model', claim: 1 },
    { type: 'step', step: `${run}:tool:c1:1`, kind: 'tool', callId: 'c1', claim: 1 },
    { type: 'step', step: `${run}:model:1:1`, kind: 'model', claim: 1 },
    { type: 'ended', status: 'completed' },
  ])
  expect([shown.run.version, shown.usage?.calls]).toEqual(['1', 2])
  expect(JSON.stringify(shown)).not.toMatch(/secret|4242|paid|Done/)
})

it('shows the tokens and the cost of each model call, and of the run', async () => {
  const prices = { 'scripted/model': { input: 1e6, output: 2e6 } }
  const spends = { inputTokens: 4, outputTokens: 1 }
  const layers = [usage({ record: true, prices })]
  const { start, ended, ops, runs, store } = scene([{ ...(call as object), usage: spends }, 'Done.'], { layers })
  const started = await ended(await start())
  const { cost, timeline } = await ops().show(started.run)
  const calls = timeline.flatMap((entry) => (entry.type === 'step' && entry.kind === 'model' ? [entry.spent] : []))
  expect([cost, calls]).toEqual([
    6 + 20,
    [
      { ...spends, cost: 6 },
      { inputTokens: 10, outputTokens: 5, cost: 20 },
    ],
  ])
  const turn = await store.sessions.find(started.key, { turnId: started.run })
  expect([turn?.usage, (await runs.get(started.run, started)).usage]).toEqual([turn?.usage, turn?.usage])
  expect(Object.keys(turn?.usage ?? {})).not.toContain('cost')
})

it('shows only the tokens of a call whose price is unknown', async () => {
  const { start, ended, ops } = scene(['Done.'], { layers: [usage({ record: true })] })
  const { cost, timeline, ...shown } = await ops().show((await ended(await start())).run)
  const [call] = timeline.flatMap((entry) => (entry.type === 'step' && entry.kind === 'model' ? [entry.spent] : []))
  expect([cost, call, shown.usage?.calls]).toEqual([undefined, { inputTokens: 10, outputTokens: 5 }, 1])
})

it('shows the call that a suspended run waits for', async () => {
  const { start, ended, ops } = scene([call], { requireApproval: true } as never)
  const { run } = await ended(await start())
  const { pending, run: shown } = await ops().show(run)
  expect([shown.status, pending]).toEqual(['suspended', [expect.objectContaining({ callId: 'c1', name: 'pay' })]])
})

it('lists the runs of all tenants or one, by their fields', async () => {
  const { start, ended, ops } = scene(['One.', 'Two.'])
  const first = await ended(await start('acme'))
  const second = await ended(await start('globex'))
  const listed = async (options: object) => (await ops().list(options)).items.map(({ run }) => run)
  expect(await listed({})).toEqual([second.run, first.run])
  expect(await listed({ tenant: 'acme', status: 'completed', agent: 'support', version: '1' })).toEqual([first.run])
  expect(await listed({ code: 'run.failed' })).toEqual([])
})

it.each([
  [{ limit: 0 }, 'limit'],
  [{ limit: 1001 }, 'limit'],
  [{ olderThan: -1 }, 'olderThan'],
  [{ status: 'gone' as never }, 'status'],
  [{ tenants: ['acme'] } as never, 'tenants'],
])('rejects a list with %j', async (options, name) => {
  const { ops } = scene([])
  await expect(ops().list(options)).rejects.toMatchObject({
    code: 'run.options',
    message: expect.stringContaining(name),
  })
})

it('stops a running run of any owner at once', async () => {
  const { start, ended, ops, store } = scene([{ stall: true }])
  const started = await start()
  await expect.poll(async () => (await ops().show(started.run)).timeline.length, { timeout: 15_000 }).toBeGreaterThan(2)
  expect(await ops().stop(started.run, { reason: 'It costs too much.' })).toBe(true)
  await ended(started)
  expect((await ops().show(started.run)).run.status).toBe('aborted')
  expect(await ops().stop(started.run)).toBe(false)
  expect(await store.audit.chainOf('acme').last()).toBeUndefined()
  expect((await ops().export(started.run, dana)).stop).toBe('It costs too much.')
})

it('queues a failed run again, which continues from its steps', async () => {
  const { start, ended, ops, store, runs } = scene(['First.', 'Second.'])
  const { principal, key } = await ended(await start())
  const lost = { run: 'lost', key: { ...key, sessionId: 'other' }, agent: 'support', version: '1' }
  const { lease } = await store.runs.add({ ...lost, task: { input: 'x', principal } }, { claim: 1000 })
  if (lease === undefined) return expect.fail('It was not claimed.')
  await store.runs.giveUp(lease, 'lost', { status: 'failed', code: 'run.attempts', reason: 'It was lost.' })
  expect(await ops().retry('lost')).toEqual({ queued: true })
  await runs.recover()
  await ended({ run: 'lost', principal, key: lost.key })
  const { run, timeline } = await ops().show('lost')
  expect([run.status, timeline.filter(({ type }) => type === 'retried').length]).toEqual(['completed', 1])
})

it('exports no token with which a pending call could be decided', async () => {
  const { start, ended, ops, runs } = scene([call], { requireApproval: true } as never)
  const { run, principal } = await ended(await start())
  const token = (await runs.get(run, { principal })).pending?.[0]?.token ?? ''
  expect(token).toMatch(/^.{8,}$/)
  expect(JSON.stringify(await ops().export(run, dana))).not.toContain(token)
})

it('summarizes runs by status, agent and version, and failures by code', async () => {
  const { start, ended, ops, store, clock } = scene(['One.'])
  await ended(await start())
  const lost = { tenant: 'acme', owner: 'bob', agent: 'support', sessionId: 'b' }
  const failing = { run: 'r1', key: lost, agent: 'support', version: '2', task: {} }
  const { lease } = await store.runs.add(failing, { claim: 1000 })
  if (lease !== undefined)
    await store.runs.giveUp(lease, 'r1', { status: 'failed', code: 'run.attempts', reason: 'It was lost.' })
  await clock.advance(5000)
  const { groups, failures } = await ops().summary({ tenant: 'acme' })
  expect(groups).toContainEqual({
    status: 'failed',
    agent: 'support',
    version: '2',
    queue: 'default',
    count: 1,
    oldestAge: 5000,
  })
  expect(groups.map(({ status }) => status).toSorted()).toEqual(['completed', 'failed'])
  expect(failures).toEqual([{ code: 'run.attempts', count: 1 }])
  expect(await ops().summary({ open: true })).toEqual({ groups: [], failures: [] })
})

it('exports a run with its content, and records the access in the audit first', async () => {
  const { start, ended, ops, store } = scene([call, 'Done.'])
  const { run } = await ended(await start())
  const exported = await ops().export(run, dana)
  expect(exported).toMatchObject({ format: 'allium-run/1', turn: { answer: 'Done.', turnId: run }, steps: [] })
  const chain = store.audit.chainOf('acme')
  expect(JSON.parse((await chain.last()) ?? '')).toMatchObject({ type: 'operator:content', turn: run, ...dana })
  expect(await verify(chain)).toMatchObject({ ok: true, records: 1 })
})

it('exports the recorded steps and the request of a run that has not ended', async () => {
  const { start, ops } = scene([call, { stall: true }])
  const { run } = await start()
  await expect.poll(async () => (await ops().show(run)).timeline.length, { timeout: 15_000 }).toBe(5)
  const { task, steps, turn } = await ops().export(run, dana)
  expect([task, turn?.status]).toMatchObject([{ input: 'my secret plan' }, undefined])
  expect(JSON.stringify(steps)).toContain('4242')
  await ops().stop(run)
})

it('returns no content if the audit fails, and says so', async () => {
  const { start, ended, ops } = scene(['Done.'])
  const { run } = await ended(await start())
  const audit = () => {
    throw new Error('The disk is full.')
  }
  const failed = { code: 'store.unavailable', message: expect.stringContaining('The disk is full.') }
  await expect(ops({ audit }).export(run, dana)).rejects.toMatchObject(failed)
  await expect(ops({ audit }).stop(run, dana)).rejects.toMatchObject(failed)
})

it.each([
  { operator: '', reason: 'x' },
  { operator: 'dana', reason: ' ' },
  { operator: 'dana', reason: 'x'.repeat(2001) },
  {},
  undefined,
])('returns no content for an access without a name and a reason (%#)', async (access) => {
  const { start, ended, ops, store } = scene(['Done.'])
  const { run } = await ended(await start())
  await expect(ops().export(run, access as never)).rejects.toMatchObject({ code: 'run.options' })
  expect(await store.audit.chainOf('acme').last()).toBeUndefined()
})

it('returns no content without an audit', async () => {
  const { start, ended, store } = scene(['Done.'])
  const { run } = await ended(await start())
  const { audit: _, ...unaudited } = store
  await expect(operations({ store: unaudited }).export(run, dana)).rejects.toMatchObject({ code: 'options.invalid' })
})

it('records who stopped and retried a run, if they are named', async () => {
  const { start, ended, ops, store } = scene(['Done.'])
  const { run } = await ended(await start())
  await ops().stop(run, dana)
  await ops().retry(run, { operator: 'dana' })
  const types: string[] = []
  for await (const line of store.audit.chainOf('acme').lines()) types.push(JSON.parse(line).type)
  expect(types).toEqual(['operator:stop', 'operator:retry'])
})

it('does not see runs of other tenants within some', async () => {
  const { start, ended, ops } = scene(['One.', 'Two.'])
  const [mine, theirs] = [await ended(await start('acme')), await ended(await start('globex'))]
  const within = ops().within(['acme', 'initech'])
  expect((await within.list()).items.map(({ run }) => run)).toEqual([mine.run])
  expect((await within.list({ tenant: 'globex' })).items).toEqual([])
  expect((await within.summary({ tenant: 'globex' })).groups).toEqual([])
  expect((await within.within(['globex']).list()).items).toEqual([])
  const hidden = { code: 'session.not_found' }
  for (const attempt of [
    within.show(theirs.run),
    within.show(theirs.run, { tenant: 'globex' }),
    within.stop(theirs.run),
    within.retry(theirs.run),
    within.export(theirs.run, dana),
  ])
    await expect(attempt).rejects.toMatchObject(hidden)
})

it('needs the tenant of a run whose id another tenant has, too', async () => {
  const { ops, store } = scene([])
  for (const tenant of ['acme', 'globex'])
    await store.runs.add({
      ...{ run: 'same', agent: 'support', version: '1', task: {} },
      key: { tenant, owner: 'ann', agent: 'support', sessionId: 's' },
    })
  await expect(ops().show('same')).rejects.toMatchObject({ code: 'run.options' })
  expect((await ops().show('same', { tenant: 'globex' })).run.key.tenant).toBe('globex')
})
