import { Agent, type AnyMiddleware } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { type ManualClock, manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { onTestFinished } from 'vitest'
import { durable } from '../src/index.ts'
import { type OperationsOptions, operations } from '../src/operations.ts'

/** A store with runs in any state, and the operations on it. No process executes the runs. */
export function idleScene(options: Partial<OperationsOptions> = {}, clock: ManualClock = manualClock()) {
  const store = sqlite(':memory:', { clock })
  const ops = operations({ store, clock, ...options })
  const add = (run: string, more: Partial<Parameters<typeof store.runs.add>[0]> & { tenant?: string } = {}) => {
    const { tenant = 'acme', ...given } = more
    const key = { tenant, owner: 'ann', agent: 'support', sessionId: `s-${run}` }
    return store.runs.add({ run, key, agent: 'support', version: '1', task: { input: 'my secret plan' }, ...given })
  }
  const claim = (worker?: string) =>
    store.runs.claim({
      ...{ agents: [{ name: 'support', version: '1' }], limit: 9, ms: 1000, alone: true, worker },
      queues: [{ name: 'default' }, { name: 'emails' }],
    })
  /** Adds a run that failed without a turn. */
  const addFailed = async (run: string, more: Parameters<typeof add>[1] & { code?: string } = {}) => {
    const { code = 'run.attempts', ...given } = more
    await add(run, given)
    const claimed = (await claim()).find((one) => one.run.run === run)
    if (claimed === undefined) throw new Error(`The run "${run}" was not claimed.`)
    await store.runs.giveUp(claimed.lease, run, { status: 'failed', code, reason: 'It failed.' })
    return claimed
  }
  const audited = async (tenant = 'acme') => {
    const records: Record<string, unknown>[] = []
    for await (const line of store.audit.chainOf(tenant).lines()) records.push(JSON.parse(line))
    return records
  }
  return { store, clock, ops, add, claim, addFailed, audited }
}

/** An agent whose runs a process executes, and the operations on their store. */
export function liveScene(
  steps: readonly ScriptedStep[],
  { layers = [] as AnyMiddleware[], tools = [] as object[] } = {},
) {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const model = scriptedModel(steps)
  const agent = new Agent({ name: 'support', version: '1', model, tools: tools as never, clock })
  const logger = { warn() {}, error() {} }
  const runs = durable(agent.use(persist({ store: store.sessions })).use(layers), {
    store,
    lease: 1000,
    clock,
    logger,
    worker: 'host-a:1',
  })
  onTestFinished(() => runs.drain())
  const ended = async (input = 'hello', sessionId = 'chat') => {
    const principal = { tenantId: 'acme', userId: 'ann' }
    const { run } = await runs.start({ principal, sessionId, input })
    for await (const _ of runs.attach(run, { principal })) void _
    return { run, principal }
  }
  const audited = async () => {
    const records: Record<string, unknown>[] = []
    for await (const line of store.audit.chainOf('acme').lines()) records.push(JSON.parse(line))
    return records
  }
  return { clock, store, runs, ended, audited, ops: operations({ store, clock }) }
}
