import { Agent, type Middleware, type Model } from '@allium/core'
import { budget } from '@allium/guard'
import { persist } from '@allium/memory'
import { usage } from '@allium/observe'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { agent as agentTool } from '@allium/tools'
import { afterEach, describe, expect, it } from 'vitest'
import { type Durable, durable } from '../src/index.ts'
import { rehearsed } from './deploys/process.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const logger = { warn() {}, error() {} }
const open: Durable[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.drain()))
})

type Named = Middleware & { name: string }
interface Build {
  version?: string
  accepts?: string[]
  layers?: Named[]
  helper?: Agent
  toolConcurrency?: number
  attempts?: number
}
const call = (name: string, callId: string) => ({ name, callId, args: {} })
const pays = { toolCalls: [call('pay', 'c1')] }

/** Processes on one store. The clock of a dead one stands still. */
function world() {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const paid: string[] = []
  const slow: (() => void)[] = []
  const place = {
    clock,
    pass: (ms: number) => clock.advance(ms),
    soon: () => new Promise<void>((r) => setImmediate(r)),
  }

  const process = (model: Model, build: Build = {}, own = clock) => {
    const { version = '1', layers = [], helper, toolConcurrency = 10, attempts, accepts } = build
    const tool = (name: string, execute: () => unknown) => ({ name, description: name, jsonSchema: {}, execute })
    const tools = [
      tool('pay', () => void paid.push('paid')),
      tool('wait', () => new Promise<void>((resolve) => slow.push(resolve))),
    ]
    const agent = new Agent({ model, version, tools: tools as never[], clock: own, logger, toolConcurrency })
    agent.use(persist({ store: store.sessions }))
    for (const layer of layers) agent.use(layer)
    if (helper !== undefined) agent.use(agentTool({ agent: helper, name: 'ask', description: 'asks' }) as never)
    const runs = durable(agent as never, { store, lease: 1000, clock: own, logger, attempts, accepts })
    if (own === clock) open.push(runs)
    return runs
  }

  /** A run that has recorded a tool call, and whose process is lost after it. */
  async function lostRun(model: Model, build: Build, recorded = ':tool:c1:1') {
    const dead = process(model, build, manualClock())
    const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
    await expect.poll(async () => (await steps(run)).some((id) => id.endsWith(recorded))).toBe(true)
    await clock.advance(1500)
    return run
  }
  async function steps(run: string) {
    const found = await store.runs.get({ tenant: 'acme', run })
    const recorded = await store.runs.steps({ key: found?.key as never, token: 0, version: 0 }, run)
    return recorded.map(({ id }) => id)
  }
  const check = (runs: Durable, run: string, to: string) =>
    rehearsed(runs, run, { place: { ...place, lease: 1000 } as never, to })
  async function ended(runs: Durable, run: string) {
    await runs.recover()
    for (let look = 0; ; look++) {
      const info = await runs.get(run, { principal })
      if (!['queued', 'running'].includes(info.status)) return info
      await place.soon()
      if (look > 50) await clock.advance(100)
    }
  }
  return { clock, store, paid, slow, process, lostRun, steps, check, ended }
}

const around = (name: string, hooks: Partial<Named> = {}): Named => ({ name, turn: (_, next) => next(), ...hooks })

describe('a takeover by code that ends the turn before a recorded payment', () => {
  const ends = {
    blocks: (ctx: { block(why: string): never }) => ctx.block('Maintenance.'),
    aborts: (ctx: { abort(why: string): never }) => ctx.abort('Maintenance.'),
    throws: () => Promise.reject(new TypeError('x is not a function')),
  }
  it.each(Object.entries(ends))('stops the run and keeps its steps, as the rehearsal says: it %s', async (_, turn) => {
    const { lostRun, process, paid, check, ended, steps } = world()
    const run = await lostRun(scriptedModel([pays, { stall: true }]), { layers: [around('gate')] })
    const layers = [around('gate', { turn: turn as never })]
    const next = process(scriptedModel([]), { version: '2', accepts: ['1'], layers })
    expect(await check(next, run, '2')).toMatchObject({ fits: false, moved: false })
    const { status, code, reason } = await ended(next, run)
    expect([status, code, paid]).toEqual(['failed', 'journal.diverged', ['paid']])
    expect(reason).toContain('is recorded, but the current code does not request it')
    expect(await steps(run)).toContain(`${run}:tool:c1:1`)
    const former = process(scriptedModel(['Paid.']), { layers: [around('gate')] })
    expect(await former.retry(run, { principal })).toBe(true)
    expect(await ended(former, run)).toMatchObject({ status: 'completed', text: 'Paid.' })
  })
})

describe('ctx.once()', () => {
  const mails = (key: string, sent: string[]) =>
    around('mail', {
      async turn(ctx, next) {
        await ctx.once(key, () => void sent.push(key))
        return next()
      },
    })

  it('does not run under another key in a takeover, as the rehearsal says', async () => {
    const { lostRun, process, check, ended } = world()
    const sent: string[] = []
    const run = await lostRun(scriptedModel([pays, { stall: true }]), { layers: [mails('welcome', sent)] })
    const next = process(scriptedModel(['Done.']), { version: '2', accepts: ['1'], layers: [mails('hello', sent)] })
    expect(await check(next, run, '2')).toMatchObject({ fits: false })
    const { code, reason } = await ended(next, run)
    expect([code, sent]).toEqual(['journal.diverged', ['welcome']])
    expect(reason).toContain(':once:hello:1" before "')
  })

  it('that was removed stops the run, because its effect would be hidden', async () => {
    const { lostRun, process, check, ended } = world()
    const run = await lostRun(scriptedModel([pays, { stall: true }]), { layers: [mails('welcome', [])] })
    const next = process(scriptedModel(['Done.']), { version: '2', accepts: ['1'], layers: [around('mail')] })
    expect(await check(next, run, '2')).toMatchObject({ fits: false })
    expect(await ended(next, run)).toMatchObject({ code: 'journal.diverged' })
  })
})

describe('a rehearsal', () => {
  const helper = (layers: Named[] = []) => {
    const answers = [{ toolCalls: [call('look', 'k')] }, { stall: true as const }]
    const look = { name: 'look', description: 'looks', jsonSchema: {}, execute: () => 'found' }
    const agent = new Agent({ name: 'helper', model: scriptedModel(answers), tools: [look as never], logger })
    for (const layer of layers) agent.use(layer)
    return agent as never as Agent
  }
  const asks = { toolCalls: [{ name: 'ask', callId: 'c1', args: { task: 'Look.' } }] }
  const denies = { name: 'policy', tool: (ctx: { deny(why: string): never }) => ctx.deny('Closed.') } as never

  it('replays the steps of sub-agents, as a takeover does', async () => {
    const { lostRun, process, check } = world()
    const run = await lostRun(scriptedModel([asks]), { helper: helper([around('policy')]) }, ':tool:k:1')
    const other = process(scriptedModel([]), { version: '2', helper: helper([denies]) })
    const { fits, moved, reason } = await other.migrate(run, { principal, to: '2' })
    expect([fits, moved]).toEqual([false, false])
    expect(reason).toContain(':tool:k:1" is recorded, but the current code does not request it')
    const same = process(scriptedModel([]), { version: '2', helper: helper([around('policy')]) })
    expect(await check(same, run, '2')).toMatchObject({ fits: true })
  })

  it('of other code with the same version names the difference, and moves nothing', async () => {
    const { lostRun, process } = world()
    const run = await lostRun(scriptedModel([pays, { stall: true }]), {})
    const next = process(scriptedModel([]), { layers: [around('extra')] })
    const { fits, moved, reason } = await next.migrate(run, { principal, to: '1', dryRun: true })
    expect([fits, moved]).toEqual([false, false])
    expect(reason).toContain('the layer "extra" was added')
  })

  it('fits code that runs fewer tools at once, though one of them was not recorded', async () => {
    const { lostRun, process, check, ended, slow, paid } = world()
    const both = { toolCalls: [call('wait', 'w'), call('pay', 'c1')] }
    const run = await lostRun(scriptedModel([both]), {})
    const next = process(scriptedModel(['Done.']), { version: '2', accepts: ['1'], toolConcurrency: 1 })
    expect(await check(next, run, '2')).toMatchObject({ fits: true })
    await next.recover()
    await expect.poll(() => slow.length).toBe(2)
    slow[1]?.()
    expect(await ended(next, run)).toMatchObject({ status: 'completed' })
    expect(paid).toEqual(['paid'])
  })
})

it('a stop that comes while recorded steps are replayed leaves them in the history', async () => {
  const { lostRun, process, ended, store } = world()
  let goOn = () => {}
  const waits = new Promise<void>((resolve) => (goOn = resolve))
  const slow = around('slow', { turn: (_, next) => waits.then(() => next()) as never })
  const run = await lostRun(scriptedModel([pays, { stall: true }]), { layers: [around('slow')] })
  const next = process(scriptedModel([{ stall: true }]), { layers: [slow] })
  await next.recover()
  expect(await next.stop(run, { principal })).toBe(true)
  await new Promise(setImmediate)
  goOn()
  expect(await ended(next, run)).toMatchObject({ status: 'aborted' })
  const found = await store.runs.get({ tenant: 'acme', run })
  const turn = await store.sessions.find(found?.key as never, { turnId: run })
  expect(JSON.stringify(turn?.messages)).toContain('"callId":"c1"')
})

it.each([
  ['usage records', () => usage({ record: true, prices: {} })],
  ['a budget', (ledger: never) => budget({ limit: 1e6, unit: 'tokens', ledger })],
] as const)('a run with %s that crashes its process fails after its attempts', async (_, layer) => {
  const { process, clock, store } = world()
  let run = ''
  for (let life = 1; life <= 6; life++) {
    const own = manualClock()
    const layers = [layer(store.ledger as never) as unknown as Named]
    const runs = process(scriptedModel([{ stall: true }]), { layers, attempts: 3 }, own)
    run ||= (await runs.start({ principal, sessionId: 'chat', input: 'Pay.' })).run
    await runs.recover()
    await new Promise((resolve) => setImmediate(resolve))
    await expect.poll(async () => (await runs.get(run, { principal })).status).not.toBe('queued')
    await clock.advance(1500)
  }
  expect(await store.runs.get({ tenant: 'acme', run })).toMatchObject({ status: 'failed', code: 'run.attempts' })
})
