// biome-ignore-all lint/suspicious/noExplicitAny: state of every kind is written here
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AlliumError, Middleware, SessionContext, StateField } from '../src/index.ts'
import { build, oneCall, tool, turn } from './kit.ts'

type Fields = Record<string, StateField<any>>
type Write = (state: Record<string, any>) => void

const sum = (total: number, delta: number) => total + delta
/** A layer that declares state and writes to it before the core. */
const writer = (state: Fields, write: Write = () => {}): Middleware => ({
  name: 'writer',
  state,
  turn(ctx, next) {
    write(ctx.state)
    return next()
  },
})

describe('state', () => {
  it('passes writes through the reducer of their key, and reads see them at once', async () => {
    const seen: number[] = []
    const layer = writer({ n: { default: 10, reducer: sum } }, (state) => {
      state.n = 5
      seen.push(state.n)
      state.n = 1
      seen.push(state.n)
    })
    const { result } = await turn(['ok'], [layer])
    expect([seen, result?.state]).toEqual([[15, 16], { n: 16 }])
  })

  it('keeps the last write without a reducer', async () => {
    expect(
      (
        await turn(
          ['ok'],
          [
            writer({ v: { default: 'a' } }, (state) => {
              state.v = 'b'
              state.v = 'c'
            }),
          ],
        )
      ).result?.state,
    ).toEqual({ v: 'c' })
  })

  it('is seen in every scope, on the session and in the result', async () => {
    const log: Middleware = {
      name: 'log',
      state: { log: { default: [], reducer: (all, one) => [...all, one] } },
      async session(ctx, next) {
        ctx.state.log = 'session'
        await next()
      },
      turn(ctx, next) {
        ctx.state.log = 'turn'
        return next()
      },
      model(ctx, next) {
        ctx.state.log = 'model'
        return next()
      },
      tool(ctx, next) {
        ctx.state.log = 'tool'
        return next()
      },
    }
    const { result, session } = await turn(oneCall, [log], { tools: [tool('work')] })
    expect(result?.state).toEqual({ log: ['session', 'turn', 'model', 'tool', 'model'] })
    expect(session.state).toEqual(result?.state)
  })

  it('lasts over turns; a field of scope turn begins again', async () => {
    const fields: Fields = { all: { default: 0, reducer: sum }, one: { default: 0, reducer: sum, scope: 'turn' } }
    const { agent } = build(
      ['a', 'b'],
      [
        writer(fields, (state) => {
          state.all = 1
          state.one = 1
        }),
      ],
    )
    const session = agent.session()
    await session.run('1')
    expect((await session.run('2')).state).toEqual({ all: 2, one: 1 })
  })

  it('clones defaults for each session, and calls functions that make them', async () => {
    const layer = writer(
      { list: { default: [] }, deep: { default: { a: [] } }, made: { default: () => new Map() } },
      (state) => {
        state.list.push(1)
        state.deep.a.push(1)
        state.made.set(1, 1)
      },
    )
    const { agent } = build(['a', 'b'], [layer])
    await agent.run('1')
    const { state } = (await agent.run('2')) as { state: Record<string, any> }
    expect([state.list.length, state.deep.a.length, state.made.size]).toEqual([1, 1, 1])
  })

  it('gives a result a snapshot of its own', async () => {
    const { agent } = build(
      ['a', 'b'],
      [
        writer({ n: { default: 0, reducer: sum } }, (state) => {
          state.n = 1
        }),
      ],
    )
    const session = agent.session()
    const first = (await session.run('1')) as { state: Record<string, unknown> }
    first.state.n = 99
    expect((await session.run('2')).state).toEqual({ n: 2 })
    expect(first.state.n).toBe(99)
  })

  it.each<[string, (previous: number, delta: number) => unknown]>([
    [
      'throws',
      (previous, delta) => {
        if (delta < 0) throw new RangeError('negative')
        return previous + delta
      },
    ],
    ['returns a promise', (previous, delta) => (delta < 0 ? Promise.resolve(previous) : previous + delta)],
    [
      'returns a promise that rejects',
      (previous, delta) => (delta < 0 ? Promise.reject(new Error('late')) : previous + delta),
    ],
  ])('keeps the last good value and fails the turn where a reducer %s', async (_, reducer) => {
    const { agent } = build(
      ['a', 'b', 'c'],
      [{ name: 'owner', state: { n: { default: 0, reducer: reducer as never } } }],
    )
    const session = agent.session()
    const write = (n: number) => ({
      use: [
        (ctx: any, next: () => Promise<void>) => {
          ctx.state.n = n
          return next()
        },
      ],
    })
    await session.run('1', write(5))
    await expect(session.run('2', write(-1)).then()).rejects.toMatchObject({
      code: 'state.reducer',
      details: { key: 'n', layer: 'owner' },
    })
    expect(session.state).toEqual({ n: 5 })
    expect((await session.run('3', write(2))).state).toEqual({ n: 7 })
  })

  it('fails the turn even where the layer swallows the error of its reducer', async () => {
    const layer = writer(
      {
        n: {
          default: 0,
          reducer: () => {
            throw new Error('bad')
          },
        },
      },
      (state) => {
        try {
          state.n = 1
        } catch {}
      },
    )
    const { error, ends } = await turn(['never'], [layer])
    expect([error?.code, ends[0]?.status]).toEqual(['state.reducer', 'failed'])
  })

  it('checks writes by the schema of their key', async () => {
    const { error, session } = await turn(
      ['ok'],
      [
        writer({ n: { default: 1, schema: z.number().max(10) } }, (state) => {
          state.n = 11
        }),
      ],
    )
    expect(error).toMatchObject({ code: 'state.invalid', message: expect.stringContaining('"n"') })
    expect(session.state).toEqual({ n: 1 })
  })

  it('throws at use() where two layers declare one key, and names both', () => {
    const { agent } = build([], [{ name: 'one', state: { 'shared:key': { default: 0 } } }])
    expect(() => agent.use({ name: 'two', state: { 'shared:key': { default: 1 } } })).toThrow(
      /shared:key.*"one".*"two"/,
    )
  })

  it.each([
    ['no default', { n: {} }, 'state.invalid'],
    ['a default that cannot be cloned', { n: { default: { f() {} } } }, 'state.invalid'],
    ['the key __proto__', JSON.parse('{"__proto__":{"default":1}}'), 'state.reserved_key'],
    ['the key constructor', { constructor: { default: 1 } }, 'state.reserved_key'],
  ])('refuses a declaration with %s', (_, state, code) => {
    expect(() => build([], [{ name: 'x', state } as never])).toThrow(expect.objectContaining({ code }))
  })

  it.each(['__proto__', 'constructor', 'prototype'])('refuses a write to %s, and pollutes nothing', async (key) => {
    const { session } = await turn(
      ['ok'],
      [
        writer({ ok: { default: 1 } }, (state) => {
          expect(() => {
            state[key] = { polluted: 1 }
          }).toThrow(expect.objectContaining({ code: 'state.reserved_key' }))
        }),
      ],
    )
    expect([({} as any).polluted, (session.state as any).polluted, Object.keys(session.state)]).toEqual([
      undefined,
      undefined,
      ['ok'],
    ])
  })

  it('cannot lose, redefine or re-root a key', async () => {
    await turn(
      ['ok'],
      [
        writer({ n: { default: 1 } }, (state) => {
          for (const vandal of [
            () => delete state.n,
            () => Object.defineProperty(state, 'n', { value: 2 }),
            () => Object.setPrototypeOf(state, { n: 2 }),
          ])
            expect(vandal).toThrow(expect.objectContaining({ code: 'state.reserved_key' }))
        }),
      ],
    )
  })

  it('keeps an undeclared key for the run, and warns once', async () => {
    const seen: unknown[] = []
    const layer: Middleware = {
      name: 'stray',
      async turn(ctx, next) {
        seen.push(ctx.state.stray)
        ctx.state.stray = 1
        await next()
        seen.push(ctx.state.stray)
      },
    }
    const { agent, log } = build(['a', 'b'], [layer])
    const session = agent.session()
    const first = (await session.run('1')) as { state: object }
    await session.run('2')
    expect([seen, first.state, session.snapshot().state]).toEqual([[undefined, 1, undefined, 1], { stray: 1 }, {}])
    expect(log.map(({ message }) => message)).toEqual([expect.stringContaining('"stray"')])
  })

  it('is restored past the reducers, as copies', async () => {
    const saved = { history: [{ role: 'user' as const, content: 'earlier' }], state: { n: 5, list: ['x'] } }
    const layer: Middleware = {
      name: 'restorer',
      state: { n: { default: 100, reducer: sum }, list: { default: [], reducer: (a, b) => [...a, ...b] } },
      async session(ctx, next) {
        ctx.restore(saved)
        await next()
      },
      turn(ctx, next) {
        ctx.state.list = ['y']
        return next()
      },
    }
    const { result, model } = await turn(['ok'], [layer])
    expect(result?.state).toEqual({ n: 5, list: ['x', 'y'] })
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual(['earlier', 'hi'])
    expect(saved.state.list).toEqual(['x'])
  })

  it.each(['turn', 'model', 'tool', 'session'] as const)(
    'is not restored while a turn runs, so that no layer empties the conversation: %s',
    async (scope) => {
      const codes: unknown[] = []
      let kept: SessionContext | undefined
      const empty = (ctx: SessionContext) => {
        try {
          ctx.restore({ history: [], state: {} })
        } catch (error) {
          codes.push((error as AlliumError).code)
        }
      }
      const layer: Middleware = {
        name: 'empties',
        session: (ctx, next) => {
          kept = ctx
          return next()
        },
        [scope === 'session' ? 'turn' : scope]: (ctx: SessionContext, next: () => unknown) => {
          empty(scope === 'session' && kept !== undefined ? kept : ctx)
          return next()
        },
      }
      const { session } = await turn(scope === 'tool' ? oneCall : ['done'], [layer], { tools: [tool('work')] })
      expect(codes).toEqual(['layer.invalid'])
      expect(session.history.map(({ role }) => role).slice(0, 2)).toEqual(['user', 'assistant'])
    },
  )

  it.each(['restore', 'assign'])('takes no prototype from saved JSON: %s', async (how) => {
    const evil = JSON.parse('{"__proto__":{"polluted":1},"ok":2}')
    const layer: Middleware = {
      name: 'r',
      state: { ok: { default: 1 } },
      async session(ctx, next) {
        if (how === 'restore') ctx.restore({ history: [], state: evil })
        else
          try {
            Object.assign(ctx.state, evil)
          } catch {}
        await next()
      },
    }
    const { session } = await turn(['ok'], [layer])
    expect([({} as any).polluted, (session.state as any).polluted]).toEqual([undefined, undefined])
  })

  it('may be listed and written as JSON', async () => {
    let json = ''
    await turn(
      ['ok'],
      [
        writer({ a: { default: 1 }, b: { default: [2] } }, (state) => {
          state.a = 3
          json = JSON.stringify([Object.keys(state), state, { ...state }, 'a' in state, 'z' in state])
        }),
      ],
    )
    expect(JSON.parse(json)).toEqual([['a', 'b'], { a: 3, b: [2] }, { a: 3, b: [2] }, true, false])
  })

  it('written before a failure stays', async () => {
    const { session, error } = await turn(
      [new Error('down')],
      [
        writer({ n: { default: 0, reducer: sum } }, (state) => {
          state.n = 1
        }),
      ],
    )
    expect([error?.message, session.state]).toEqual(['down', { n: 1 }])
  })
})
