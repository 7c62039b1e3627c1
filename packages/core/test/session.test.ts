import { describe, expect, it } from 'vitest'
import type { Message, Middleware } from '../src/index.ts'
import { build, failure, gate, oneCall, rest, settled, tool } from './kit.ts'

describe('a session', () => {
  it('refuses a second turn while one runs, and takes one after it', async () => {
    const going = gate()
    const { agent, model } = build([() => going.promise.then(() => 'first'), 'third'])
    const session = agent.session()
    const first = session.run('1')
    expect((await settled(session.run('2'))).error).toMatchObject({
      code: 'session.busy',
      details: { sessionId: session.id },
    })
    going.open()
    expect((await first).text).toBe('first')
    expect((await session.run('3')).text).toBe('third')
    expect([model.calls, session.history.length]).toEqual([2, 4])
  })

  it('queues turns in order where it is told to, past failures', async () => {
    const { agent } = build(['a', new Error('down'), 'c'])
    const session = agent.session({ onBusy: 'queue' })
    const runs = ['1', '2', '3'].map((input) => settled(session.run(input)))
    expect((await Promise.all(runs)).map(({ result, error }) => result?.text ?? error?.message)).toEqual([
      'a',
      'down',
      'c',
    ])
    expect(session.history.map(({ content }) => content)).toEqual(['1', 'a', '2', '3', 'c'])
  })

  it('aborts a queued run before it begins', async () => {
    const going = gate()
    const { agent, model } = build([() => going.promise.then(() => 'first')], [], { onBusy: 'queue' })
    const session = agent.session()
    const first = session.run('1')
    const second = session.run('2')
    second.abort('changed my mind')
    going.open()
    expect((await first).text).toBe('first')
    expect((await failure(second)).name).toBe('AbortError')
    expect(model.calls).toBe(1)
  })

  it('closes after its running turn, and refuses runs from then on', async () => {
    const log: string[] = []
    const layer: Middleware = {
      name: 'log',
      async session(_, next) {
        await next()
        log.push('closed')
      },
    }
    const going = gate()
    const { agent } = build([() => going.promise.then(() => 'ok')], [layer])
    const session = agent.session()
    const run = session.run('hi').then(() => log.push('ran'))
    await rest()
    const closing = session.close()
    expect((await settled(session.run('more'))).error).toMatchObject({ code: 'session.closed' })
    going.open()
    await Promise.all([run, closing])
    expect(log).toEqual(['ran', 'closed'])
  })

  it.each(['', '\u0000', 'a\nb', 'x'.repeat(257), '\ud800', 7, null])('refuses the id %j', (id) => {
    expect(() => build([]).agent.session({ id: id as never })).toThrow(
      expect.objectContaining({ code: 'session.invalid_id' }),
    )
  })

  it.each(['../etc/passwd', '%2e%2e', '__proto__', 'emoji 👩‍👧', 'x'.repeat(256), 'CaSe'])(
    'takes the id %j as it is',
    (id) => {
      expect(build([]).agent.session({ id }).id).toBe(id)
    },
  )

  it('gives ids of their own to sessions without one', () => {
    const { agent } = build([])
    expect(new Set(Array.from({ length: 100 }, () => agent.session().id)).size).toBe(100)
    expect(build([], [], { ids: () => 'mine' }).agent.session().id).toBe('mine')
  })

  it('is the same one where a run without a session is run again under the id of its turn', async () => {
    const { agent } = build(['One.', 'Two.'])
    const ids = [await agent.run('Hi', { turnId: 't' }), await agent.run('Hi', { turnId: 't' })]
    expect(ids.map(({ sessionId }) => sessionId)).toEqual(['t', 't'])
  })

  it('gives the first run again for an idempotencyKey', async () => {
    const { agent, model } = build(['once', 'other'])
    const session = agent.session()
    const [first, again] = [session.run('hi', { idempotencyKey: 'k' }), session.run('hi', { idempotencyKey: 'k' })]
    expect(again).toBe(first)
    expect((await first).text).toBe('once')
    expect(session.run('hi', { idempotencyKey: 'k' })).toBe(first)
    expect((await session.run('hi', { idempotencyKey: 'other' })).text).toBe('other')
    expect(model.calls).toBe(2)
  })

  it('does not keep a refusal under an idempotencyKey', async () => {
    const going = gate()
    const { agent } = build([() => going.promise.then(() => 'first'), 'second'])
    const session = agent.session()
    const first = session.run('1')
    expect((await settled(session.run('2', { idempotencyKey: 'k' }))).error?.code).toBe('session.busy')
    going.open()
    await first
    expect((await settled(session.run('2', { idempotencyKey: 'k' }))).result?.text).toBe('second')
  })

  it('gives waitUntil the whole completion, deferred work included, which never rejects', async () => {
    const log: string[] = []
    const work = gate()
    const layer: Middleware = {
      name: 'deferrer',
      turn(ctx, next) {
        ctx.defer(work.promise.then(() => log.push('deferred')))
        return next()
      },
    }
    const { agent } = build([new Error('down')], [layer])
    let completion: Promise<unknown> | undefined
    const run = settled(
      agent.session().run('hi', {
        waitUntil: (promise) => {
          completion = promise
        },
      }),
    )
    work.open()
    await completion
    expect([log, (await run).error?.message]).toEqual([['deferred'], 'down'])
  })

  it('goes on from the snapshot of another one, in another agent', async () => {
    const counter: Middleware = {
      name: 'counter',
      state: { turns: { default: 0, reducer: (a, b) => a + b }, secret: { default: 'x', persist: false } },
      turn(ctx, next) {
        ctx.state.turns = 1
        ctx.state.secret = 'y'
        return next()
      },
    }
    const first = build(oneCall, [counter], { tools: [tool('work')] })
    const session = first.agent.session()
    await session.run('1')
    const snapshot = JSON.parse(JSON.stringify(session.snapshot()))
    expect(snapshot.state).toEqual({ turns: 1 })
    const second = build(['fine'], [counter], { tools: [tool('work')] })
    const other = second.agent.session()
    other.restore(snapshot)
    const { state } = await other.run('2')
    expect(state).toEqual({ turns: 2, secret: 'y' })
    expect(second.model.requests[0]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
  })

  it('shares nothing with a snapshot', async () => {
    const { agent } = build(['ok', 'ok'], [{ name: 'list', state: { list: { default: [1] } } }])
    const session = agent.session()
    await session.run('hi')
    const snapshot = session.snapshot()
    ;(snapshot.state.list as number[]).push(2)
    snapshot.history.length = 0
    expect([session.state, session.history.length]).toEqual([{ list: [1] }, 2])
  })

  const call = { type: 'tool-call', callId: 'a', name: 'work', args: {} } as const
  const answer = { type: 'tool-result', callId: 'a', name: 'work', content: 'ok' } as const
  it.each<[string, unknown]>([
    ['no list', 'text'],
    ['no message', [null]],
    ['an unknown role', [{ role: 'wizard', content: 'x' }]],
    ['an unknown part', [{ role: 'user', content: [{ type: 'spell' }] }]],
    ['a result without its call', [{ role: 'tool', content: [answer] }]],
    [
      'a result twice',
      [
        { role: 'assistant', content: [call] },
        { role: 'tool', content: [answer] },
        { role: 'tool', content: [answer] },
      ],
    ],
    [
      'a call twice',
      [
        { role: 'assistant', content: [call] },
        { role: 'tool', content: [answer] },
        { role: 'assistant', content: [call] },
      ],
    ],
    [
      'a call without its result',
      [
        { role: 'assistant', content: [call] },
        { role: 'assistant', content: 'ok' },
      ],
    ],
  ])('refuses to restore a history that is not valid, and stays as it was: %s', async (_, history) => {
    const { agent } = build(['ok'])
    const session = agent.session()
    await session.run('hi')
    expect(() => session.restore({ history: history as Message[], state: {} })).toThrow(
      expect.objectContaining({ code: 'history.invalid' }),
    )
    expect(session.history.map(({ content }) => content)).toEqual(['hi', 'ok'])
  })

  it('refuses to restore while a turn runs', async () => {
    const going = gate()
    const session = build([() => going.promise.then(() => 'ok')]).agent.session()
    const run = session.run('hi')
    expect(() => session.restore({ history: [], state: {} })).toThrow(expect.objectContaining({ code: 'session.busy' }))
    going.open()
    await run
  })

  it('counts turns on after a restore into the same session', async () => {
    const { agent } = build(['a', 'b'])
    const session = agent.session()
    await session.run('1')
    session.restore(session.snapshot())
    expect((await session.run('2')).turnId).toMatch(/:1$/)
  })

  it('of one agent does not see another, two hundred at once', async () => {
    const agent = build(
      Array.from({ length: 400 }, () => async ({ messages }: { messages: readonly Message[] }) => {
        await rest()
        return `echo ${messages.at(-1)?.content}`
      }),
      [
        {
          name: 'mine',
          state: { mine: { default: [], reducer: (a, b) => [...a, b] } },
          turn(ctx, next) {
            ctx.state.mine = ctx.sessionId
            return next()
          },
        },
      ],
    ).agent
    await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const session = agent.session({ id: `user-${i}` })
        for (const turn of ['a', 'b']) expect((await session.run(`${i}${turn}`)).text).toBe(`echo ${i}${turn}`)
        expect(session.state).toEqual({ mine: [`user-${i}`, `user-${i}`] })
        expect(session.history).toHaveLength(4)
      }),
    )
  })

  it('closes only when deferred work has ended, and is free for another run before', async () => {
    const log: string[] = []
    const work = gate()
    const layer: Middleware = {
      name: 'deferring',
      async session(_, next) {
        await next()
        log.push('closed')
      },
      async turn(ctx, next) {
        if (ctx.turnIndex === 0) ctx.defer(work.promise.then(() => log.push('deferred')))
        await next()
      },
    }
    const { agent } = build(['one', 'two'], [layer])
    const session = agent.session()
    const first = session.run('1')
    for await (const _ of first);
    expect((await session.run('2')).text).toBe('two')
    const closing = session.close()
    await rest()
    work.open()
    await Promise.all([first, closing])
    expect(log).toEqual(['deferred', 'closed'])
  })

  it('takes its id by the name that events have beside `id`, and refuses that name alone', async () => {
    const { agent } = build(['hi'])
    const both = { id: 's', sessionId: 's' }
    expect(agent.session(both).id).toBe('s')
    const { code } = await failure(() => agent.session({ sessionId: 's' } as object))
    expect(code).toBe('run.options')
  })
})
