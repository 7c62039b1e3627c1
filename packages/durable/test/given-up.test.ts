import { Agent, type AnyMiddleware } from '@allium/core'
import { persist } from '@allium/memory'
import { audit, verify } from '@allium/observe'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { agentGroup, handoff } from '@allium/tools/group'
import { expect, it, onTestFinished } from 'vitest'
import { FailingSeals } from '../../testing/src/conformance/sealed/failing-seals.ts'
import { durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const agents = [{ name: 'agent', version: '1' }]
const lease = 1000
const eventually = { timeout: 15_000 }

/** Processes on one store. All of them have the same audit layer. */
function world() {
  const clock = manualClock(1_000_000)
  const seals = new FailingSeals()
  const store = sqlite(':memory:', { clock, encrypt: seals })
  const logged: string[] = []
  const logger = { warn() {}, error: (text: string) => void logged.push(text) }
  const process = (
    model = scriptedModel(['Done.']),
    { layers = [audit({ sink: store.audit })], own = clock }: { layers?: AnyMiddleware[]; own?: typeof clock } = {},
  ) => {
    const look = { name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'seen' }
    const agent = new Agent({ version: '1', model, clock: own, logger, tools: [look as never] })
      .use(persist({ store: store.sessions }))
      .use(layers)
    const runs = durable(agent, { store, lease, clock: own, logger })
    onTestFinished(async () => {
      if (own !== clock) return
      const drained = runs.drain({ timeout: 1 })
      await clock.advance(2)
      await drained
    })
    return runs
  }
  const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
  const add = async () => {
    await store.runs.add({ run: 'dead', key, agent: 'agent', version: '1', task: { principal, input: 'Hi' } })
    return key
  }
  const statusOf = async () => (await store.runs.get({ tenant: 'acme', run: 'dead' }))?.status
  /** The ends of turns in the audit chain, which is intact. */
  const ends = async () => {
    const records: { type: string }[] = []
    for await (const line of store.audit.chainOf('acme').lines()) records.push(JSON.parse(line))
    expect(await verify(store.audit.chainOf('acme'))).toMatchObject({ ok: true })
    return records.filter(({ type }) => type === 'turn:end')
  }
  return { clock, seals, store, logged, process, add, statusOf, ends }
}

const givenUp = { tenant: 'acme', user: 'ann', agent: 'agent', session: 'chat', turn: 'dead', status: 'failed' }

it('a run that is given up has its end in the audit chain, once', async () => {
  const { seals, process, add, statusOf, ends } = world()
  await add()
  Object.assign(seals, { failure: 'gone', rows: (row: string) => row.includes('"task"') })
  const runs = process()
  await runs.recover()
  await expect.poll(statusOf, eventually).toBe('failed')
  await runs.drain()
  expect(await ends()).toMatchObject([{ ...givenUp, error: 'store.sealed', givenUp: true }])
})

it('the end of a run that is given up in the middle of its turn is recorded, too', async () => {
  const { clock, store, process, add, statusOf, ends } = world()
  const key = await add()
  const look = { toolCalls: [{ name: 'look', callId: 'c1', args: {} }] }
  const dead = process(scriptedModel([look, { stall: true }]), { own: manualClock() })
  await dead.recover()
  const steps = () => store.runs.steps({ key, token: 0, version: 0 }, 'dead')
  await expect.poll(async () => (await steps()).some(({ id }) => id.includes('tool:end')), eventually).toBe(true)
  await clock.advance(2 * lease)
  const closed = { name: 'closed', tool: () => 'Closed.' }
  const runs = process(scriptedModel([]), { layers: [closed, audit({ sink: store.audit })] })
  await runs.recover()
  // A new step waits one lease for the recorded ones.
  await expect.poll(() => clock.advance(lease / 10).then(statusOf), eventually).toBe('failed')
  await runs.drain()
  expect(await ends()).toMatchObject([{ ...givenUp, error: 'journal.diverged' }])
})

it('a run that was given up, retried and completed has both ends in the audit chain', async () => {
  const { clock, seals, process, add, statusOf, ends } = world()
  await add()
  Object.assign(seals, { failure: 'gone', rows: (row: string) => row.includes('"task"') })
  const runs = process()
  await runs.recover()
  await expect.poll(statusOf, eventually).toBe('failed')
  seals.failure = undefined
  await clock.advance(lease)
  expect(await runs.retry('dead', { principal })).toBe(true)
  await expect.poll(statusOf, eventually).toBe('completed')
  await runs.drain()
  expect(await ends()).toMatchObject([givenUp, { turn: 'dead', status: 'completed' }])
})

it('the end of a run is recorded by the next process, if the one that gave it up was lost', async () => {
  const { clock, store, process, add, ends } = world()
  await add()
  const [claimed] = await store.runs.claim({ agents, limit: 1, ms: 1, alone: false })
  const why = { status: 'failed', code: 'run.attempts', reason: 'It failed too often.' } as const
  await store.runs.giveUp(claimed?.lease as never, 'dead', why)
  const runs = process()
  await expect.poll(() => clock.advance(lease).then(ends), eventually).toHaveLength(1)
  await runs.drain()
  expect(await ends()).toMatchObject([{ ...givenUp, error: 'run.attempts', givenUp: true }])
})

it('a run that is given up ends although its audit cannot store a record', async () => {
  const { seals, logged, process, add, statusOf } = world()
  await add()
  Object.assign(seals, { failure: 'gone', rows: (row: string) => row.includes('"task"') })
  const sink = () => Promise.reject(new Error('The disk is full.'))
  const runs = process(undefined, { layers: [audit({ sink })] })
  await runs.recover()
  await expect.poll(statusOf, eventually).toBe('failed')
  await runs.drain()
  expect(logged.join()).toContain('The disk is full.')
})

it('the end of a run of a group is in the audit chain once, although each agent has an audit layer', async () => {
  const { clock, store, seals, add, statusOf, ends } = world()
  await add()
  Object.assign(seals, { failure: 'gone', rows: (row: string) => row.includes('"task"') })
  const logger = { warn() {}, error() {} }
  const agentOf = (name: string) =>
    new Agent({ name, sessionGroup: 'agent', version: '1', model: scriptedModel([]), clock, logger })
      .use(persist({ store: store.sessions }))
      .use(audit({ sink: store.audit }))
      .use(handoff({ to: [] }))
  const runs = durable(agentGroup([agentOf('triage'), agentOf('refunds')]), { store, lease, clock, logger })
  await runs.recover()
  await expect.poll(statusOf, eventually).toBe('failed')
  await runs.drain()
  expect(await ends()).toMatchObject([{ ...givenUp, error: 'store.sealed', givenUp: true }])
})
