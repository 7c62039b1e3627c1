import type { Middleware, TurnContext } from '@allium/core'
import { budget } from '@allium/guard'
import { type AgentStore, memoryLedger, sharedStore } from '@allium/store'
import { manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { record } from '../src/index.ts'
import { memory, oneCall, recorded, work } from './kit.ts'

const passes = (name: string, options: object = {}): Middleware => ({
  name,
  options: { ...options },
  turn: (_, next) => next(),
})

describe('record() keeps what a replay needs besides the steps:', () => {
  it('the readings of the clock between the steps, and the timers that fired', async () => {
    const clock = manualClock(1_000)
    const reads: Middleware = {
      name: 'reads',
      async model(ctx, next) {
        await new Promise<void>((resolve) => ctx.clock.after(50, resolve))
        ctx.clock.now()
        return next()
      },
    }
    const { agent, turns } = recorded(['ok'], [reads], { clock })
    const run = agent.run('hi')
    await expect.poll(() => clock.pending).toBeGreaterThan(0)
    await clock.advance(50)
    await run
    expect(turns()[0]?.clock.fired).toEqual([{ after: 0, at: 50, ms: 50 }])
    expect(turns()[0]?.clock.reads[0]).toEqual(expect.arrayContaining([0, 50]))
  })

  it('the layers that it entered, with the options that they declare but no functions', async () => {
    const layer = passes('limits', { limit: 3, when: () => true, names: [/a/i] })
    const { agent, turns } = recorded(['ok'], [layer, { name: 'tools only', tool: (_, next) => next() } as Middleware])
    await agent.run('hi', { use: [passes('of the run')] })
    expect(turns()[0]?.layers).toEqual([
      { agent: 'agent', name: 'limits', options: { limit: 3, names: ['/a/i'] } },
      { agent: 'agent', name: 'of the run' },
    ])
  })

  it('which layer a result of once() belongs to', async () => {
    const once = (name: string, key: string): Middleware => ({
      name,
      async turn(ctx, next) {
        await ctx.once(key, () => name, { per: key === 'mine' ? 'attempt' : 'turn' })
        await next()
      },
    })
    const { agent, turns } = recorded(
      ['ok'],
      [once('first', 'shared'), once('second', 'shared'), once('third', 'mine')],
    )
    await agent.run('hi')
    expect(turns()[0]?.steps.map(({ layer, result }) => [layer, result])).toMatchObject([
      ['first', 'first'],
      ['third', 'third'],
      [undefined, { type: 'finish' }],
    ])
  })

  it('messages that arrived while it ran, before a layer changed them', async () => {
    const hides: Middleware = {
      name: 'hides',
      turn(ctx, next) {
        ctx.onInput((message) => ({ ...message, content: 'hidden' }) as never)
        return next()
      },
    }
    const steers = { ...work, execute: () => void run.steer('I am Dana') as never }
    const { agent, turns } = recorded(oneCall, [hides], { tools: [steers as never] })
    const run = agent.run('hi')
    await run
    const [turn] = turns()
    expect(turn?.steered).toMatchObject([{ after: 2, message: { content: 'I am Dana' } }])
    expect(turn?.notReplayable).toBeUndefined()
    expect(JSON.stringify(turn?.steps)).toContain('hidden')
  })

  it('and counts such a message if a layer outside the recorder may have changed it', async () => {
    const { store, turns } = memory()
    const steers = { ...work, execute: () => void run.steer('more') as never }
    const { agent } = recorded(oneCall, [], { tools: [steers as never], options: { skip: () => true } })
    agent.use([passes('outside'), record({ store, as: 'inside' }) as never])
    const run = agent.run('hi')
    await run
    expect(turns()[0]?.notReplayable).toEqual([expect.stringContaining('outside the recorder')])
  })

  it('an abort from outside, with the steps that it interrupted', async () => {
    const { agent, turns } = recorded([{ stall: true }])
    const run = agent.run('hi', { turnId: 't1' })
    setImmediate(() => run.abort('enough'))
    await expect(run).rejects.toThrow('enough')
    expect(turns()[0]).toMatchObject({
      abort: { after: 1, reason: 'The run was aborted: enough', during: ['t1:model:0:1'] },
      decisions: [{ scope: 'model', decision: 'aborted' }],
    })
  })

  it('blocks and aborts of layers, and what a layer answered in place of a call', async () => {
    const does = (work: (ctx: TurnContext) => unknown): Middleware => ({ name: 'does', turn: (ctx) => void work(ctx) })
    const told = async (layer: Middleware) => {
      const { agent, turns } = recorded(oneCall, [passes('around'), layer])
      await agent.run('hi').catch(() => {})
      return turns()[0]?.decisions
    }
    expect(await told(does((ctx) => ctx.block('no')))).toMatchObject([
      { layer: 'does', decision: 'blocked', reason: 'no' },
    ])
    expect(await told(does((ctx) => ctx.abort('no')))).toMatchObject([{ layer: 'does', decision: 'aborted' }])
    expect(await told({ name: 'cache', model: () => 'cached' })).toMatchObject([
      { layer: 'cache', decision: 'skipped', answer: 'cached' },
    ])
  })

  it('the outermost layer that denied a call and returned something else', async () => {
    const denies: Middleware = {
      name: 'denies',
      tool(ctx) {
        ctx.deny('never')
        return 'fine'
      },
    }
    const { agent, turns } = recorded(oneCall, [denies])
    await agent.run('hi')
    expect(turns()[0]?.decisions).toEqual([
      expect.objectContaining({ layer: 'denies', call: 'c1', decision: 'denied', reason: 'never' }),
    ])
  })

  it('the session itself, if no store has it', async () => {
    const { agent, turns } = recorded(['one', 'two'])
    const session = agent.session()
    await session.run('first')
    await session.run('second')
    expect(turns().map(({ before }) => before.snapshot?.history.length)).toEqual([undefined, 2])
    expect(turns()[1]?.notReplayable).toBeUndefined()
  })
})

describe('record() keeps what ledgers answered', () => {
  const limited = (ledger: ReturnType<typeof memoryLedger>) =>
    budget({ limit: 5_000, unit: 'tokens', per: 'tenant', ledger })
  const session = { principal: { tenantId: 'acme', userId: 'ann' } }

  it('with the balance at the first reservation of an account, and what was settled', async () => {
    const ledger = memoryLedger()
    const { agent, recorder, turns } = recorded(['one', 'two'], [])
    agent.use(limited(recorder.watch(ledger) as never) as never)
    await agent.run('hi', { session })
    await agent.run('hi', { session })
    const [first, second] = turns().map(({ postings }) => postings)
    expect(first?.map(({ operation }) => operation)).toEqual(['reserve', 'settle'])
    expect(first?.[0]).toMatchObject({ limit: 5_000, balance: { spent: 0, reserved: 0 } })
    expect(second?.[0]?.balance?.spent).toBe(first?.[1]?.amount)
  })

  it('also that of the agent’s store, and a refusal', async () => {
    const ledger = memoryLedger()
    const provides: Middleware = {
      name: 'provides',
      async agent(ctx, next) {
        ctx.provide(sharedStore, { ledger } as unknown as AgentStore)
        await next()
      },
    }
    const { agent, turns } = recorded(['one'], [provides, budget({ limit: 1, unit: 'tokens', per: 'tenant' }) as never])
    await agent.run('hi', { session })
    expect(turns()[0]?.postings).toMatchObject([{ operation: 'reserve', limit: 1, refused: true }])
    expect(turns()[0]?.decisions).toMatchObject([{ layer: 'guard:budget', decision: 'blocked' }])
  })
})
