import { Agent, type Middleware, type PartialResult } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { memoryStore } from '@allium/store'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { persist } from '../src/index.ts'

const key = { tenant: '', owner: '', agent: 'agent', sessionId: 'x' }
const down = new Error('the disk is full')

/** A session in a store of which one append fails, the first if no other is named. */
function failing(steps: readonly ScriptedStep[], { at = 1, layers = [] as Middleware[], approval = false } = {}) {
  const memory = memoryStore()
  let appends = 0
  let paid = 0
  const logged: string[] = []
  const store: SessionStore = {
    ...memory,
    append: async (...args) => (++appends === at ? Promise.reject(down) : memory.append(...args)),
  }
  const pay = {
    name: 'pay',
    description: 'Pays',
    jsonSchema: {},
    requireApproval: approval,
    execute: () => `paid ${++paid}`,
  }
  const logger = { warn() {}, error: (message: string) => void logged.push(message) }
  const clock = manualClock()
  let opened = 0
  const agent = new Agent({ model: scriptedModel(steps), tools: [pay], logger, clock })
    .on('session:start', () => opened++)
    .use(persist({ store }))
    .use(layers)
  const session = agent.session({ id: 'x' })
  const texts = () => session.history.map(({ content }) => (typeof content === 'string' ? content : content[0]?.type))
  const same = async () => {
    const { history, rest } = (await memory.load(key)) ?? { history: [], rest: { state: {} } }
    // Runs are counted on: no id of a turn comes twice.
    const runCount = expect.any(Number)
    return expect(session.snapshot()).toEqual({ history, ...rest, runCount })
  }
  return {
    session,
    texts,
    same,
    logged,
    paid: () => paid,
    clock,
    opened: () => opened,
    remove: () => memory.delete(key),
  }
}

const counting: Middleware = {
  name: 'counting',
  state: { turns: { default: 0, reducer: (a: number, b: number) => a + b } },
  async turn(ctx, next) {
    ctx.state.turns = 1
    await next()
  },
}
/** What a run rejects with. */
const failure = (run: PromiseLike<unknown>) =>
  run.then(
    () => expect.fail('The run was to fail.'),
    (error: unknown) => error as Error & { partial: PartialResult },
  )
const call: ScriptedStep = { toolCalls: [{ name: 'pay', callId: 'c1' }] }

describe('a turn that could not be stored', () => {
  it('is not known by its key: asked again, it is another try', async () => {
    const { session, same } = failing([{ error: new Error('the model is down') }, 'b'])
    const options = { idempotencyKey: 'k1' }
    expect((await failure(session.run('1', options))).message).toBe('the model is down')
    expect((await session.run('1', options)).text).toBe('b')
    await same()
  })

  it('fails with the error of the store, and goes back: the next turns leave no hole', async () => {
    const { session, texts, same } = failing(['a', 'b', 'c', 'd'], { at: 2, layers: [counting] })
    await session.run('1')
    const error = await failure(session.run('2'))
    expect([error, error.partial.text, error.partial.messages.length]).toEqual([down, 'b', 2])
    expect([texts(), session.state]).toEqual([['1', 'a'], { turns: 1 }])
    await session.run('3')
    await same()
    await session.run('4')
    expect(texts()).toEqual(['1', 'a', '3', 'c', '4', 'd'])
    await same()
  })

  it('stays where a tool began, interrupted, and is stored with the next one', async () => {
    const { session, texts, same, paid } = failing([call, 'Paid.', 'next', 'last'], { layers: [counting] })
    await expect(session.run('pay')).rejects.toBe(down)
    expect(texts()).toEqual(['pay', 'tool-call', 'tool-result', 'Paid.'])
    expect(session.history.at(-1)).toMatchObject({ content: 'Paid.', interrupted: true })
    await session.run('2')
    await same()
    await session.run('3')
    expect([texts().length, paid(), session.state]).toEqual([8, 1, { turns: 3 }])
    await same()
  })

  it('goes back where its only call was denied', async () => {
    const deny: Middleware = { name: 'deny', tool: async (ctx) => ctx.deny('no') }
    const { session, texts } = failing([call, 'Denied.'], { layers: [deny] })
    await expect(session.run('pay')).rejects.toBe(down)
    expect(texts()).toEqual([])
  })

  it('waits for its decision again where it gave that up, and stays where a decision was used', async () => {
    const { session, same, paid } = failing([call, 'b', 'Paid.', 'c'], { at: 2, approval: true })
    await session.run('pay')
    await expect(session.run('something else')).rejects.toBe(down)
    expect([session.pending.map(({ callId }) => callId), session.history.length]).toEqual([['c1'], 2])
    await same()
    await session.resume({ c1: { approve: true } })
    expect(paid()).toBe(1)
    await same()
  })

  it('does not give a used approval back', async () => {
    const { session, texts, same, paid } = failing([call, 'Paid.', 'c'], { at: 2, approval: true })
    await session.run('pay')
    await expect(session.resume({ c1: { approve: true } })).rejects.toBe(down)
    expect(texts()).toEqual(['pay', 'tool-call', 'tool-result', 'Paid.'])
    await expect(session.resume({ c1: { approve: true } })).rejects.toMatchObject({ code: 'approval.used' })
    await session.run('2')
    expect(paid()).toBe(1)
    await same()
  })

  it('keeps what once() gave, so that the turn can be run again', async () => {
    let charged = 0
    const charge: Middleware = {
      name: 'charge',
      async turn(ctx, next) {
        await ctx.once('charge', () => ++charged)
        await next()
      },
    }
    const { session, same } = failing(['a', 'b', 'c'], { layers: [charge] })
    await expect(session.run('1')).rejects.toBe(down)
    await session.run('1')
    expect(charged).toBe(1)
    await same()
    await session.run('2')
    expect(charged).toBe(2)
  })

  it('is told in the log where it ended otherwise, and goes back too', async () => {
    const block: Middleware = { name: 'block', turn: async (ctx) => ctx.block('no', { reply: 'I may not.' }) }
    const { session, logged, texts } = failing([], { layers: [block] })
    const result = await session.run('1')
    expect([result.status, result.messages.length, texts()]).toEqual(['blocked', 2, []])
    expect(logged).toEqual(['The session "x" could not be stored: the disk is full'])
  })

  it('is no place to fork at', async () => {
    const { session } = failing(['a', 'b'], { at: 2 })
    const { turnId } = await session.run('1')
    const error = await failure(session.run('2'))
    const fork = session.fork({ at: error.partial.turnId as string })
    await expect(fork.open()).rejects.toMatchObject({ code: 'session.unknown_turn' })
    expect(session.fork({ at: turnId }).history).toHaveLength(2)
  })
})

describe('what a session has and its store has not', () => {
  it('is stored with the next turn: a restored history, messages pushed between turns', async () => {
    const { session, same } = failing(['a', 'b'], { at: 0 })
    session.restore({ history: [{ role: 'user', content: 'before' }], state: {} })
    await session.run('1')
    await same()
    session.history.push({ role: 'user', content: 'between' })
    await session.run('2')
    expect(session.history).toHaveLength(6)
    await same()
  })

  it('outlives the time in which the session was idle', async () => {
    const { session, same, clock, opened } = failing([call, 'Paid.', 'b'])
    await session.run('pay').catch(() => {})
    await clock.advance(900_000)
    await session.run('2')
    expect([session.history.length, opened()]).toEqual([6, 2])
    await same()
  })

  it('is none of a session that was deleted from its store: that begins anew', async () => {
    const { session, same, remove } = failing(['a', 'b'], { at: 0 })
    await session.run('1')
    await remove()
    await session.run('2')
    expect(session.history.map(({ content }) => content)).toEqual(['2', 'b'])
    await same()
  })
})
