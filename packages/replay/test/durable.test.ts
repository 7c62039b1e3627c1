import { Agent, delegate, fromJson, type Middleware } from '@allium/core'
import { type Durable, durable } from '@allium/durable'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { type RecordedTurn, type RecordOptions, record } from '../src/index.ts'
import { oneCall, work } from './kit.ts'

const key = { agent: 'agent', tenant: 'acme', owner: 'ann', sessionId: 'chat' }
const principal = { tenantId: 'acme', userId: 'ann' }
const logger = { warn() {}, error() {} }
const open: Durable[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.drain()))
})

/** Processes on one store. The clock of a dead one stands still. */
function world() {
  const clock = manualClock(1_000)
  const store = sqlite(':memory:', { clock })
  const process = (
    steps: readonly ScriptedStep[],
    {
      options = {},
      tool = work,
      own = clock,
    }: { options?: RecordOptions; tool?: typeof work; own?: typeof clock } = {},
  ) => {
    const recorder = record({ store: store.recordings, ...options })
    const denies: Middleware = { name: 'denies', tool: (ctx, next) => (ctx.args.n === 2 ? ctx.deny('two') : next()) }
    const agent = new Agent({ version: '1', model: scriptedModel(steps), tools: [tool], clock: own, logger })
    agent
      .use(persist({ store: store.sessions }))
      .use(recorder)
      .use(denies)
    const runs = durable(agent, { store, lease: 1_000, clock: own, logger })
    if (own === clock) open.push(runs)
    return { runs, recorder }
  }
  const recordings = async () => {
    const { items } = await store.recordings.list({ agent: 'agent', limit: 10 })
    const found = await Promise.all(items.map(({ turnId }) => store.recordings.get({ key, turnId })))
    return found.map((one) => fromJson(one?.content ?? '') as RecordedTurn)
  }
  const status = async (runs: Durable, run: string) => (await runs.get(run, { principal })).status
  return { clock, store, process, recordings, status }
}

describe('record() under durable runs', () => {
  it('keeps a run of the worker with its sub-agent, and the version of the session before it', async () => {
    const { process, recordings, status } = world()
    const child = new Agent({ name: 'child', model: scriptedModel(['found']), logger })
    const tool = {
      ...work,
      execute: async (_: unknown, ctx: never) => (await delegate(ctx, child, 'find'))?.text ?? '',
    }
    const { runs } = process([...oneCall], { tool: tool as never })
    const { run } = await runs.start({ principal, sessionId: 'chat', input: 'hi' })
    await expect.poll(() => status(runs, run)).toBe('completed')
    await expect.poll(async () => (await recordings()).length).toBe(1)
    const [turn] = await recordings()
    expect(turn).toMatchObject({ task: { input: 'hi' }, before: { version: 0, messages: 0 }, principal })
    expect(turn?.requests.map(({ turnId }) => turnId.split('/').length)).toEqual([1, 2, 1])
    expect(turn?.steps.filter(({ id }) => id.includes(':model:'))).toHaveLength(3)
    expect(turn?.notReplayable).toBeUndefined()
  })

  it('counts a run that another process continued, because its first steps ran there', async () => {
    const { clock, process, recordings, status } = world()
    let stuck = () => {}
    const began = new Promise<void>((resolve) => (stuck = resolve))
    const hangs = { ...work, execute: () => new Promise<never>(stuck) }
    const dead = process(oneCall, { tool: hangs as never, own: manualClock(1_000) })
    const { run } = await dead.runs.start({ principal, sessionId: 'chat', input: 'hi' })
    await began
    await clock.advance(1_500)
    const alive = process(['done'], { tool: { ...work, onInterrupted: 'retry' } as never })
    await alive.runs.recover()
    await expect.poll(() => status(alive.runs, run)).toBe('completed')
    await expect.poll(() => alive.recorder.counts().recorded).toBe(1)
    const turns = await recordings()
    expect(turns.map(({ notReplayable }) => notReplayable)).toEqual([['steps ran in another process']])
    expect(alive.recorder.counts().notReplayable).toEqual({ 'steps ran in another process': 1 })
    expect(turns[0]?.steps.map(({ id }) => id.replace(/^.*?:(model|tool)/, '$1'))).toContain('model:1:1')
  })

  it('leaves out a run whose principal refuses, and a run that refuses by its context', async () => {
    const { process, recordings } = world()
    const skip: RecordOptions['skip'] = ({ principal, context }) =>
      (principal as { userId?: string }).userId === 'private' ||
      (context as { recording?: boolean })?.recording === false
    const { runs, recorder } = process(['a', 'b', 'c'], { options: { skip } })
    const asks = [
      { principal: { tenantId: 'acme', userId: 'private' }, sessionId: 'own', input: 'one' },
      { principal, sessionId: 'chat', input: 'two', context: { recording: false } },
      { principal, sessionId: 'chat', input: 'three' },
    ]
    for (const task of asks) {
      const { run } = await runs.start(task as never)
      await expect.poll(async () => (await runs.get(run, { principal: task.principal })).status).toBe('completed')
    }
    await expect.poll(async () => (await recordings()).map(({ task }) => task.input)).toEqual(['three'])
    expect(recorder.counts().skipped).toBe(2)
  })
})
