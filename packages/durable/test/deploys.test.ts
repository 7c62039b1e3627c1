import { Agent, type Middleware, type Model } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { type Durable, durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const call = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }
const logger = { warn() {}, error() {} }
const open: Durable[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.drain()))
})

interface Build {
  version?: string
  accepts?: string[]
  layers?: (Middleware & { name: string })[]
  tool?: object
}

/** A store that two builds of an agent share. The clock of the first stands still once it is dead. */
function world() {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const paid: string[] = []
  const process = (model: Model, { version = '1', accepts, layers = [], tool }: Build = {}, own = clock) => {
    const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: () => paid.push('paid'), ...tool }
    const agent = new Agent({ model, version, tools: [pay as never], clock: own }).use(
      persist({ store: store.sessions }),
    )
    for (const layer of layers) agent.use(layer)
    const runs = durable(agent, { store, accepts, lease: 1000, clock: own, logger })
    if (own === clock) open.push(runs)
    return runs
  }

  /** Starts a run whose process dies in the model call after the payment, then deploys another build. */
  async function deploy(before: Build, now: Build, answers: Parameters<typeof scriptedModel>[0] = []) {
    const dead = process(scriptedModel([call, { stall: true }]), before, manualClock())
    const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
    await expect.poll(() => paid.length).toBe(1)
    await expect.poll(async () => (await stepsOf(run)).length).toBeGreaterThan(2)
    await clock.advance(1500)
    const model = scriptedModel(answers)
    const runs = process(model, now)
    await runs.recover()
    return { run, runs, model }
  }

  async function stepsOf(run: string) {
    const found = await store.runs.get({ tenant: 'acme', run })
    const lease = { key: found?.key as never, token: 0, version: 0 }
    return store.runs.steps(lease, run)
  }

  return { clock, store, paid, process, deploy }
}

async function ended(runs: Durable, run: string) {
  await expect.poll(async () => (await runs.get(run, { principal })).status).not.toBe('running')
  return runs.get(run, { principal })
}

const passes = (name: string): Middleware & { name: string } => ({ name, tool: (_, next) => next() })

describe('a deploy while a run has paid', () => {
  it('continues the run where the structure of the code is the same', async () => {
    const { deploy, paid } = world()
    const layers = [passes('a'), passes('b')]
    const { runs, run } = await deploy({ layers }, { layers: [passes('a'), passes('b')] }, ['Paid.'])
    expect(await ended(runs, run)).toMatchObject({ status: 'completed', text: 'Paid.' })
    expect(paid).toEqual(['paid'])
  })

  it.each<[string, Build, Build, string]>([
    ['a layer was added', {}, { layers: [passes('policy')] }, 'the layer "policy" was added'],
    ['a layer was removed', { layers: [passes('audit')] }, {}, 'the layer "audit" was removed'],
    [
      'layers were reordered',
      { layers: [passes('a'), passes('b')] },
      { layers: [passes('b'), passes('a')] },
      'the order of the layers changed from memory:persist, a, b to memory:persist, b, a',
    ],
    [
      'a layer hooks another scope',
      { layers: [passes('a')] },
      { layers: [{ name: 'a', model: (_: never, next: () => never) => next() } as never] },
      'the layer "a" has changed',
    ],
    ['a tool was renamed', {}, { tool: { name: 'charge' } }, 'the tool "pay" was removed; the tool "charge" was added'],
    [
      'a schema has changed',
      {},
      { tool: { jsonSchema: { type: 'object', required: ['to'] } } },
      'the tool "pay" has changed',
    ],
    ['a tool needs an approval now', {}, { tool: { requireApproval: true } }, 'is recorded, but the current code does'],
  ])('stops the run and names the change: %s', async (_, before, now, difference) => {
    const { deploy, paid } = world()
    const { runs, run, model } = await deploy(before, now)
    const { status, code, reason } = await ended(runs, run)
    expect([status, code, paid, model.requests]).toEqual(['failed', 'journal.diverged', ['paid'], []])
    expect(reason).toContain(difference)
  })

  it('stops the run where only the body of a layer differs, and it no longer asks for the recorded call', async () => {
    const { deploy, paid } = world()
    const denies = { name: 'policy', tool: (ctx: { deny(why: string): never }) => ctx.deny('Not today.') } as never
    const { runs, run, model } = await deploy({ layers: [passes('policy')] }, { layers: [denies] })
    expect(await ended(runs, run)).toMatchObject({ status: 'failed', code: 'journal.diverged' })
    expect([paid, model.requests]).toEqual([['paid'], []])
  })

  it('lets the build that began the run retry it', async () => {
    const { deploy, process, paid, clock } = world()
    const { runs, run } = await deploy({}, { layers: [passes('policy')] })
    await ended(runs, run)
    await runs.drain()
    open.length = 0
    const former = process(scriptedModel(['Paid.']), {}, clock)
    expect(await former.retry(run, { principal })).toBe(true)
    expect(await ended(former, run)).toMatchObject({ status: 'completed', text: 'Paid.' })
    expect(paid).toEqual(['paid'])
  })
})

describe('versions', () => {
  it('are continued by a build that accepts them', async () => {
    const { deploy } = world()
    const { runs, run } = await deploy({ version: '1' }, { version: '2', accepts: ['1'] }, ['Paid.'])
    expect(await ended(runs, run)).toMatchObject({ status: 'completed', text: 'Paid.' })
  })

  it('cannot be retried by a build that does not accept them', async () => {
    const { deploy } = world()
    const { runs, run } = await deploy({ version: '1' }, { version: '2' })
    await expect(runs.retry(run, { principal })).rejects.toMatchObject({
      code: 'run.version',
      message: expect.stringContaining('pass accepts: ["1"] to durable()'),
    })
  })
})

it('a call that waits over a deploy is approved by the next version', async () => {
  const { process, paid } = world()
  const tool = { requireApproval: true }
  const old = process(scriptedModel([call]), { version: '1', tool })
  const { run } = await old.start({ principal, sessionId: 'chat', input: 'Pay.' })
  const token = (await ended(old, run)).pending?.[0]?.token as string
  const next = process(scriptedModel(['Paid.']), { version: '2', tool })
  const resumed = await next.start({ principal, sessionId: 'chat', decisions: { c1: { approve: true, token } } })
  expect(await ended(next, resumed.run)).toMatchObject({ status: 'completed', text: 'Paid.' })
  expect(paid).toEqual(['paid'])
})

it('get() has the tool calls of a run, and those that are pending', async () => {
  const { process } = world()
  const runs = process(scriptedModel([call, 'Paid.']), { tool: { requireApproval: true } })
  const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Pay.' })
  const suspended = await ended(runs, run)
  expect(suspended).toMatchObject({ status: 'suspended', pending: [{ callId: 'c1', name: 'pay' }] })
  const token = suspended.pending?.[0]?.token as string
  const resumed = await runs.start({ principal, sessionId: 'chat', decisions: { c1: { approve: true, token } } })
  expect(await ended(runs, resumed.run)).toMatchObject({ status: 'completed', text: 'Paid.' })
  expect((await runs.get(run, { principal })).pending).toEqual([])
  expect((await runs.get(resumed.run, { principal })).toolCalls).toMatchObject([
    { callId: 'c1', name: 'pay', result: { isError: false } },
  ])
})
