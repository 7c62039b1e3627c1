import { Agent, type Model } from '@allium/core'
import { persist } from '@allium/memory'
import { audit } from '@allium/observe'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { type AgentGroup, agentGroup, handoff } from '@allium/tools/group'
import { afterEach, expect, it } from 'vitest'
import { type Durable, durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const logger = { warn() {}, error() {} }
const toRefunds: ScriptedStep = { toolCalls: [{ name: 'handoff', callId: 'h1', args: { to: 'refunds' } }] }
const open: Durable[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.drain()))
})

/** Processes on one store, each with the same group of agents. The clock of a dead one stands still. */
function world() {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const paid: string[] = []
  const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: () => void paid.push('paid') }
  const process = (triageModel: Model, refundsModel: Model, own = clock, sessions = store.sessions) => {
    const shared = { version: '1', sessionGroup: 'desk', clock: own, logger }
    const triage: Agent = new Agent({ name: 'triage', model: triageModel, ...shared })
    const refunds: Agent = new Agent({ name: 'refunds', model: refundsModel, tools: [pay as never], ...shared })
    triage.use(handoff({ to: () => [{ agent: refunds, description: 'Refunds' }] }))
    refunds.use(handoff({ to: () => [{ agent: triage, description: 'The rest' }] }))
    for (const agent of [triage, refunds]) agent.use(persist({ store: sessions }))
    const runs = durable(agentGroup([triage, refunds]), {
      store: { ...store, sessions },
      lease: 1000,
      clock: own,
      logger,
    })
    if (own === clock) open.push(runs)
    return runs
  }
  return { clock, store, paid, process }
}

/** Waits until a run has ended, and returns it. */
async function ended(runs: Durable, run: string) {
  const status = async () => (await runs.get(run, { principal })).status
  await expect.poll(status, { timeout: 20_000 }).not.toMatch(/queued|running/)
  return runs.get(run, { principal })
}

it('goes on with the other agent in a run of its own, and with later inputs', async () => {
  const { process } = world()
  const runs = process(scriptedModel([toRefunds]), scriptedModel(['Refunded.', 'Bye.']))
  const { run } = await runs.start({ principal, sessionId: 'a', input: 'Money back' })
  expect(await ended(runs, run)).toMatchObject({ status: 'stopped', reason: 'handoff' })
  const next = (await runs.following(run, { principal })) as string
  expect(await ended(runs, next)).toMatchObject({ status: 'completed', text: 'Refunded.' })
  expect(await runs.following(next, { principal })).toBeUndefined()
  const { run: later } = await runs.start({ principal, sessionId: 'a', input: 'Thanks' })
  expect(await ended(runs, later)).toMatchObject({ text: 'Bye.' })
})

it('goes on in another process after the one that handed off was lost, with no effect twice', async () => {
  const { clock, paid, process } = world()
  const pays: ScriptedStep = { toolCalls: [{ name: 'pay', callId: 'p1', args: {} }] }
  const dead = process(scriptedModel([toRefunds]), scriptedModel([pays, { stall: true }]), manualClock())
  const { run } = await dead.start({ principal, sessionId: 'a', input: 'Money back' })
  await ended(dead, run)
  await expect.poll(() => paid).toEqual(['paid'])
  const runs = process(scriptedModel([]), scriptedModel(['Refunded.']))
  const next = (await runs.following(run, { principal })) as string
  await clock.advance(1500)
  expect(await ended(runs, next)).toMatchObject({ status: 'completed', text: 'Refunded.' })
  expect(paid).toEqual(['paid'])
})

it('hands off once, where the process is lost before the turn that hands off has ended', async () => {
  const { clock, store, process } = world()
  const stuck = { ...store.sessions, append: () => new Promise<never>(() => {}) }
  const dead = process(scriptedModel([toRefunds]), scriptedModel([]), manualClock(), stuck)
  const { run } = await dead.start({ principal, sessionId: 'a', input: 'Money back' })
  await expect.poll(() => dead.following(run, { principal })).toBeDefined()
  const refunds = scriptedModel(['Refunded.'])
  const runs = process(scriptedModel([]), refunds)
  await clock.advance(1500)
  expect(await ended(runs, run)).toMatchObject({ status: 'stopped', reason: 'handoff' })
  const next = (await runs.following(run, { principal })) as string
  expect(await ended(runs, next)).toMatchObject({ text: 'Refunded.' })
  expect(refunds.requests).toHaveLength(1)
})

it('tells readers the end of a run at once, although a layer records a step after the turn was stored', async () => {
  const { process } = world()
  const runs = process(scriptedModel(['Hello.']), scriptedModel([]))
  ;(runs.agent as unknown as AgentGroup).use(audit({ sink: () => {} }))
  const { run } = await runs.start({ principal, sessionId: 'a', input: 'Hi' })
  const types: string[] = []
  // The clock stands still, so the end is not one that a later poll has found missing.
  for await (const { event } of runs.attach(run, { principal }))
    types.push((event as { event: { type: string } }).event.type)
  expect(types.at(-1)).toBe('turn:end')
})
