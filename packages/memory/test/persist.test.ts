import { Agent, AlliumError, type Middleware, systemClock } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { memoryStore } from '@allium/store'
import { manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { persist } from '../src/index.ts'

const who = { id: 'chat', principal: { tenantId: 'acme' } }
const counting: Middleware = {
  name: 'counting',
  state: {
    kept: { default: 0, reducer: (a: number, b: number) => a + b },
    secret: { default: 0, reducer: (a: number, b: number) => a + b, persist: false },
  },
  async turn(ctx, next) {
    ctx.state.kept = 1
    ctx.state.secret = 1
    await next()
  },
}

/** An agent as another process would have it: nothing is shared but the store. */
function processOf(
  store: SessionStore,
  steps: Parameters<typeof scriptedModel>[0],
  layers: readonly Middleware[] = [],
) {
  const model = scriptedModel(steps)
  const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
  const agent = new Agent({ model, tools: [pay], logger: { warn() {}, error() {} } })
    .use(persist({ store }))
    .use(layers)
  return { agent, model }
}

/** A layer whose turns wait until they may finish. */
function waits() {
  let finish!: () => void
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const slow: Middleware = { name: 'slow', turn: (_, next) => finished.then(() => next()) }
  return { slow, finish }
}

describe('memory.persist', () => {
  it('leaves nothing of a session that was given no id, unless it is asked to', async () => {
    for (const [anonymous, rows] of [
      [undefined, 0],
      [false, 0],
      [true, 2],
    ] as const) {
      const store = memoryStore()
      const agent = new Agent({ model: scriptedModel(['a', 'b', 'c']) }).use(persist({ store, anonymous }))
      await agent.run('hi', { session: { principal: who.principal } })
      const session = agent.session({ principal: who.principal })
      await session.run('hi')
      await session.run('again')
      expect(session.history).toHaveLength(4)
      expect((await store.list({ tenant: 'acme', limit: 9 })).items).toHaveLength(rows)
    }
  })

  it('brings a conversation and its state back in another process', async () => {
    const store = memoryStore()
    await processOf(store, ['Hello Ada.'], [counting]).agent.session(who).run('I am Ada')
    const { agent, model } = processOf(store, ['Ada.'], [counting])
    const { state } = await agent.session(who).run('Who am I?')
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual(['I am Ada', 'Hello Ada.', 'Who am I?'])
    expect(state).toMatchObject({ kept: 2, secret: 1 })
  })

  it('keeps tenants apart, though their session ids are equal', async () => {
    const store = memoryStore()
    await processOf(store, ['a']).agent.session(who).run('secret of acme')
    const { agent, model } = processOf(store, ['b'])
    await agent.session({ id: 'chat', principal: { tenantId: 'other' } }).run('hi')
    expect(model.requests[0]?.messages).toHaveLength(1)
  })

  it('resumes in another process what waits for a human', async () => {
    const store = memoryStore()
    const toolCalls = [{ name: 'pay', callId: 'c1' }]
    await processOf(store, [{ toolCalls }]).agent.session(who).run('pay')
    const session = processOf(store, ['Paid.']).agent.session(who)
    await session.open()
    expect(session.pending).toMatchObject([{ callId: 'c1', name: 'pay' }])
    expect(await session.resume({ c1: { approve: true } })).toMatchObject({ status: 'completed', text: 'Paid.' })
    const later = processOf(store, []).agent.session(who)
    await later.open()
    expect([later.pending, later.history.length]).toEqual([[], 4])
  })

  it('stores what there was of a run that failed, and of one that was aborted', async () => {
    const store = memoryStore()
    const { agent } = processOf(store, [{ text: 'Half an', error: new Error('down') }, 'Whole.'])
    const session = agent.session(who)
    await session.run('one').catch(() => {})
    await session.run('two')
    const stored = await store.load({ tenant: 'acme', owner: '', agent: 'agent', sessionId: 'chat' })
    expect(stored?.history).toMatchObject([
      { content: 'one' },
      { interrupted: true },
      { content: 'two' },
      { content: 'Whole.' },
    ])
    expect(stored?.version).toBe(2)
  })

  it('stores the answer as it left the outermost layer', async () => {
    const store = memoryStore()
    const agent = new Agent({ model: scriptedModel(['my secret']) })
      .use('turn', async (ctx, next) => {
        ctx.hold()
        await next()
        ctx.output = 'redacted'
      })
      .use(persist({ store }))
    await agent.session(who).run('hi')
    expect(
      JSON.stringify(await store.load({ tenant: 'acme', owner: '', agent: 'agent', sessionId: 'chat' })),
    ).not.toContain('my secret')
  })

  const said = async (store: SessionStore) =>
    (await store.load({ tenant: 'acme', owner: '', agent: 'agent', sessionId: 'chat' }))?.history.map(
      ({ content }) => content,
    )

  it('stores the history that restore() was given, before the first run and after', async () => {
    const store = memoryStore()
    const session = processOf(store, ['A', 'B', 'C']).agent.session(who)
    session.restore({ history: [{ role: 'user', content: 'from before' }], state: {} })
    await session.run('one')
    expect(await said(store)).toEqual(['from before', 'one', 'A'])
    const { history } = session.snapshot()
    session.restore({ history: history.slice(0, 1), state: {} })
    await session.run('two')
    expect(await said(store)).toEqual(['from before', 'two', 'B'])
    session.restore({ history: [], state: {} })
    await session.run('three')
    expect(await said(store)).toEqual(['three', 'C'])
  })

  it('stores what was pushed to the history between runs', async () => {
    const store = memoryStore()
    const session = processOf(store, ['A', 'B']).agent.session(who)
    await session.run('one')
    session.history.push({ role: 'user', content: 'by the way' })
    await session.run('two')
    expect(await said(store)).toEqual(['one', 'A', 'by the way', 'two', 'B'])
    const later = processOf(store, ['C']).agent.session(who)
    await later.run('three')
    expect(later.history.map(({ content }) => content)).toEqual(['one', 'A', 'by the way', 'two', 'B', 'three', 'C'])
  })

  it('refuses a second run of the session while one runs in another process', async () => {
    const store = memoryStore()
    const { slow, finish } = waits()
    const first = processOf(store, ['one'], [slow]).agent.session(who)
    const running = first.run('hi')
    const second = processOf(store, ['two']).agent.session(who)
    const error = await second.run('hi').catch((error) => error)
    expect(error).toMatchObject({ code: 'session.busy' })
    finish()
    await running
    expect((await second.run('hi')).text).toBe('two')
    expect(second.history.map(({ content }) => content)).toEqual(['hi', 'one', 'hi', 'two'])
  })

  it('renews its lease while a run lasts, and gives it back at the end', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const { slow, finish } = waits()
    const agent = new Agent({ model: scriptedModel(['one']), clock }).use(persist({ store, lease: 900 })).use(slow)
    const running = agent.session(who).run('hi')
    for (let i = 0; i < 10; i++) await clock.advance(400)
    const key = { tenant: 'acme', owner: '', agent: 'agent', sessionId: 'chat' }
    expect(await store.acquire(key, 1)).toEqual({ heldUntil: clock.now() + 800 })
    finish()
    await running
    expect(await store.acquire(key, 1)).toHaveProperty('lease')
  })

  it('aborts a run as soon as it learns that its lease is lost, and stores nothing of it', async () => {
    const clock = manualClock()
    const store: SessionStore = { ...memoryStore({ clock }), renew: async () => false }
    const model = scriptedModel([{ chunks: ['Half'], stall: true }])
    const run = new Agent({ model, clock, sessionIdleTimeout: false })
      .use(persist({ store, lease: 900 }))
      .session(who)
      .run('hi')
    await clock.advance(300)
    await expect(run).rejects.toMatchObject({ name: 'AbortError', reason: { code: 'store.fenced' } })
    expect([model.closed, clock.pending]).toEqual([1, 0])
  })

  it('stores a run whose process stood still for longer than its lease, where nobody has gone on', async () => {
    const shared = manualClock()
    const store = memoryStore({ clock: shared })
    // The process's own timers have not come to their turn yet.
    const agent = new Agent({ model: scriptedModel(['late']), clock: manualClock() }).use(
      persist({ store, lease: 900 }),
    )
    agent.use('turn', async (_, next) => {
      await shared.advance(1000)
      await next()
      await shared.advance(1000)
    })
    expect((await agent.session(who).run('hi')).text).toBe('late')
    const stored = await store.load({ tenant: 'acme', owner: '', agent: 'agent', sessionId: 'chat' })
    expect(stored?.history.map(({ content }) => content)).toEqual(['hi', 'late'])
    expect(await store.acquire({ tenant: 'acme', owner: '', agent: 'agent', sessionId: 'chat' }, 1)).toHaveProperty(
      'lease',
    )
  })

  it('stores a run whose store is so slow that the lease expires before each write, where nobody has gone on', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    let slowWrites = 3
    const slow: SessionStore = {
      ...store,
      async checkpoint(...args) {
        if (slowWrites-- > 0) await clock.advance(1000)
        await store.checkpoint(...args)
      },
    }
    const agent = new Agent({ model: scriptedModel(['late']), clock: manualClock() }).use(
      persist({ store: slow, lease: 900 }),
    )
    expect(await agent.session(who).run('hi')).toMatchObject({ status: 'completed', text: 'late' })
    expect(slowWrites).toBeLessThanOrEqual(0)
  })

  it('gives up a write that the store rejects although it has renewed the lease', async () => {
    let writes = 0
    const refused = () => {
      writes++
      return Promise.reject(new AlliumError('store.fenced', 'The lease was lost.'))
    }
    const store: SessionStore = { ...memoryStore(), checkpoint: refused, append: refused, renew: async () => true }
    const agent = new Agent({ model: scriptedModel(['late']) }).use(persist({ store }))
    await expect(agent.session(who).run('hi')).rejects.toMatchObject({ code: 'store.fenced' })
    expect(writes).toBeLessThan(20)
  })

  it('fails the run whose lease was lost to another process, and stores nothing of it', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const stale: SessionStore = { ...store, renew: async () => false }
    const agent = new Agent({ model: scriptedModel(['late']), clock: systemClock }).use(
      persist({ store: stale, lease: 900 }),
    )
    agent.use('turn', async (_, next) => {
      await next()
      await clock.advance(1000)
      await store.acquire({ tenant: 'acme', owner: '', agent: 'agent', sessionId: 'chat' }, 1000)
    })
    const error = await agent
      .session(who)
      .run('hi')
      .catch((error) => error)
    expect(error).toMatchObject({ code: 'store.fenced', partial: { text: 'late' } })
    expect(await store.load({ tenant: 'acme', owner: '', agent: 'agent', sessionId: 'chat' })).toMatchObject({
      version: 0,
      history: [],
    })
  })

  it('fails a run before it says that it ended, where the store does not take it', async () => {
    const broken: SessionStore = { ...memoryStore(), append: () => Promise.reject(new Error('disk full')) }
    const { agent } = processOf(broken, ['fine', 'fine'])
    const ends: string[] = []
    agent.on('turn:end', ({ status }) => ends.push(status))
    const session = agent.session(who)
    await expect(session.run('hi')).rejects.toThrow('disk full')
    expect(ends).toEqual(['failed'])
    await expect(session.run('again')).rejects.toThrow('disk full')
  })

  it('gives the session free where a decision is refused', async () => {
    const store = memoryStore()
    const session = processOf(store, [{ toolCalls: [{ name: 'pay', callId: 'c1' }] }, 'Paid.']).agent.session(who)
    await session.run('pay')
    await expect(session.resume({ nobody: { approve: true } })).rejects.toMatchObject({ code: 'approval.unknown' })
    expect((await session.resume({ c1: { approve: true } })).text).toBe('Paid.')
  })

  it('gives the session free where the options of a run are refused', async () => {
    const store = memoryStore()
    const session = processOf(store, ['fine']).agent.session(who)
    await session.open()
    const options = { use: [{ name: 'state', state: { a: { default: 1 } } }] }
    await expect(session.run('hi', options as never)).rejects.toMatchObject({ code: 'layer.invalid' })
    expect((await session.run('hi')).text).toBe('fine')
  })
})
