import { Agent, type Middleware, type Model, type ToolExecution } from '@allium/core'
import { budget } from '@allium/guard'
import { persist } from '@allium/memory'
import { audit, usage } from '@allium/observe'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { type Durable, durable, patched } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const call = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }
const logger = { warn() {}, error() {} }
const open: Durable[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.drain()))
})

type Named = Middleware & { name: string }
const passes = (name: string): Named => ({ name, tool: (_, next) => next() })
const limited = (limit: number): Named => ({ name: 'budget', options: { limit }, model: (_, next) => next() })

/** Processes of two versions on one store. The clock of a dead process stands still. */
function world() {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const paid: unknown[] = []
  const tariffs: boolean[] = []
  const process = (
    model: Model,
    version: string,
    { layers = [], own = clock }: { layers?: Named[]; own?: typeof clock } = {},
  ) => {
    const execute = async (_: unknown, ctx: ToolExecution) => {
      tariffs.push(await patched(ctx, 'tariff'))
      paid.push(version)
    }
    const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, execute }
    const agent = new Agent({ model, version, tools: [pay as never], clock: own, logger }).use(
      persist({ store: store.sessions }),
    )
    for (const layer of layers) agent.use(layer)
    const runs = durable(agent, { store, lease: 1000, clock: own, logger })
    if (own === clock) open.push(runs)
    return runs
  }

  /** A run of version 1 that has paid, and whose process is lost in the next model call. */
  async function lostRun(layers: Named[] = []) {
    const dead = process(scriptedModel([call, { stall: true }]), '1', { layers, own: manualClock() })
    const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
    await expect.poll(async () => (await steps(run)).some((id) => id.endsWith(':tool:c1:1'))).toBe(true)
    await clock.advance(1500)
    return run
  }
  const steps = async (run: string) => {
    const found = await store.runs.get({ tenant: 'acme', run })
    const recorded = await store.runs.steps({ key: found?.key as never, token: 0, version: 0 }, run)
    return recorded.map(({ id }) => id)
  }
  return { clock, store, paid, tariffs, process, lostRun, steps }
}

async function ended(runs: Durable, run: string) {
  await expect.poll(async () => (await runs.get(run, { principal })).status).not.toMatch(/running|queued/)
  return runs.get(run, { principal })
}

describe('migrate()', () => {
  it('moves a run to new code that requests the recorded steps, and repeats no effect', async () => {
    const { lostRun, process, paid } = world()
    const run = await lostRun()
    const next = process(scriptedModel(['Paid.']), '2', { layers: [passes('trace')] })
    expect(await next.migrate(run, { principal, to: '2' })).toMatchObject({ fits: true, moved: true })
    expect(await ended(next, run)).toMatchObject({ status: 'completed', text: 'Paid.' })
    expect(paid).toEqual(['1'])
  })

  it('moves a run with a budget, usage records and an audit, which record steps of their own on a takeover', async () => {
    const { lostRun, process, paid, store } = world()
    const layers = () => [
      audit({ sink: store.audit }) as Named,
      budget({ limit: 1e6, unit: 'tokens', per: 'tenant', ledger: store.ledger }) as Named,
      usage({ record: true }) as Named,
    ]
    const run = await lostRun(layers())
    const next = process(scriptedModel(['Paid.']), '2', { layers: layers() })
    expect(await next.migrate(run, { principal, to: '2' })).toMatchObject({ fits: true, moved: true })
    expect(await ended(next, run)).toMatchObject({ status: 'completed', text: 'Paid.' })
    expect(paid).toEqual(['1'])
  })

  it('with dryRun: true only tells whether it fits, and changes nothing', async () => {
    const { lostRun, process, store, steps, paid } = world()
    const run = await lostRun()
    const row = () => store.runs.get({ tenant: 'acme', run })
    const before = { row: await row(), steps: await steps(run) }
    const model = scriptedModel([])
    const next = process(model, '2')
    const checked = await next.migrate(run, { principal, to: '2', dryRun: true })
    expect(checked).toMatchObject({ fits: true, moved: false, recorded: before.steps.length })
    expect({ row: await row(), steps: await steps(run) }).toEqual(before)
    expect([model.requests, paid]).toEqual([[], ['1']])
  })

  it('names the step that does not fit, and leaves the run to its own code', async () => {
    const { lostRun, process, paid, clock } = world()
    const run = await lostRun()
    const denies = { name: 'policy', tool: (ctx: { deny(why: string): never }) => ctx.deny('Not today.') } as never
    const next = process(scriptedModel([]), '2', { layers: [denies] })
    const { fits, moved, reason } = await next.migrate(run, { principal, to: '2' })
    expect([fits, moved]).toEqual([false, false])
    expect(reason).toContain(':tool:c1:1" is recorded, but the current code does not request it')
    const former = process(scriptedModel(['Paid.']), '1')
    await clock.advance(1500)
    expect(await ended(former, run)).toMatchObject({ status: 'completed', text: 'Paid.' })
    expect(paid).toEqual(['1'])
  })

  it('moves a run that diverged under code that accepted it', async () => {
    const { lostRun, process, store } = world()
    const run = await lostRun()
    const [claimed] = await store.runs.claim({
      agents: [{ name: 'agent', version: '1' }],
      limit: 1,
      ms: 1000,
      alone: true,
    })
    await store.runs.giveUp(claimed?.lease as never, run, { status: 'failed', code: 'journal.diverged', reason: 'x' })
    const next = process(scriptedModel(['Paid.']), '2', { layers: [passes('trace')] })
    expect(await next.migrate(run, { principal, to: '2' })).toMatchObject({ moved: true })
    expect(await next.migrate(run, { principal, to: '2' })).toMatchObject({ moved: true, recorded: 5 })
    expect(await ended(next, run)).toMatchObject({ status: 'completed' })
  })

  it('does not move a run that a process is executing', async () => {
    const { process } = world()
    const first = process(scriptedModel([{ stall: true }]), '1')
    const { run } = await first.start({ principal, sessionId: 'chat', input: 'Pay.' })
    const next = process(scriptedModel([]), '2')
    expect(await next.migrate(run, { principal, to: '2' })).toMatchObject({ moved: false })
    await first.stop(run, { principal })
    expect(await ended(first, run)).toMatchObject({ status: 'aborted' })
    await expect(next.migrate(run, { principal, to: '2' })).rejects.toThrow('has ended as aborted')
  })

  it('only moves a run to the version of its own process', async () => {
    const { lostRun, process } = world()
    const run = await lostRun()
    const next = process(scriptedModel([]), '2')
    await expect(next.migrate(run, { principal, to: '3' })).rejects.toMatchObject({ code: 'run.version' })
  })
})

describe('patched()', () => {
  it('is true for runs that were started with the current version', async () => {
    const { process, tariffs } = world()
    const runs = process(scriptedModel([call, 'Paid.']), '2')
    const { run } = await runs.start({ principal, sessionId: 'chat', input: 'Pay.' })
    await ended(runs, run)
    expect(tariffs).toEqual([true])
  })

  it('is false for a run of an earlier version, and stays so', async () => {
    const { process, clock, tariffs } = world()
    const dead = process(scriptedModel([{ stall: true }]), '1', { own: manualClock() })
    const { run } = await dead.start({ principal, sessionId: 'chat', input: 'Pay.' })
    await clock.advance(1500)
    const next = process(scriptedModel([call, 'Paid.']), '2')
    await next.migrate(run, { principal, to: '2' })
    await ended(next, run)
    expect(tariffs).toEqual([false])
  })

  it('has one recorded answer, also where the process is lost after it', async () => {
    const { lostRun, process, steps } = world()
    const run = await lostRun()
    expect(await steps(run)).toContain(`${run}:durable:patched:tariff`)
    const next = process(scriptedModel([]), '2')
    expect(await next.migrate(run, { principal, to: '2', dryRun: true })).toMatchObject({ fits: true })
  })

  it('is true in a run that is not durable', async () => {
    const seen: boolean[] = []
    const layer: Named = {
      name: 'tariff',
      async turn(ctx, next) {
        seen.push(await patched(ctx, 'x'))
        await next()
      },
    }
    await new Agent({ model: scriptedModel(['Hi.']) }).use(layer).run('Hi')
    expect(seen).toEqual([true])
  })
})

it('other options of a layer do not stop a run, and are reported as drift', async () => {
  const { lostRun, process, clock } = world()
  const run = await lostRun([limited(5)])
  const next = process(scriptedModel(['Paid.']), '1', { layers: [limited(10)] })
  await clock.advance(1500)
  expect(await ended(next, run)).toMatchObject({ status: 'completed' })
  const drift: unknown[] = []
  for await (const { event } of next.attach(run, { principal })) {
    const { type, differs } = (event as { event: { type: string; differs?: unknown } }).event
    if (type === 'journal:drift') drift.push(differs)
  }
  expect(drift).toEqual([['the option "limit" of the layer "budget" changed from 5 to 10']])
})
