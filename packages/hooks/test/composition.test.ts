import { when } from '@allium/combinators'
import { capability } from '@allium/core'
import { inject } from '@allium/core/context'
import { describe, expect, it } from 'vitest'
import { from, type Lifecycle } from '../src/index.ts'
import { build, oneCall, recorder, tool } from './kit.ts'

describe('several objects in one layer', () => {
  it('run each hook in the order of the objects, the after-hooks too', async () => {
    const log: string[] = []
    await build(oneCall, [from([recorder(log, 'a:'), recorder(log, 'b:')])]).agent.run('hi')
    const pairs = log.filter((line) => !line.includes('onChunk'))
    expect(pairs.filter((_, at) => at % 2 === 0).map((line) => line.replace('a:', 'b:'))).toEqual(
      pairs.filter((_, at) => at % 2 === 1),
    )
    expect(pairs[0]).toBe('a:setup')
  })

  it('set up all capabilities, typed, before any config hook', async () => {
    const Db = capability<{ rows: number }>('db')
    const seen: number[] = []
    const hooks = from([
      { onConfig: (ctx) => void seen.push(inject(ctx, Db).rows) },
      { setup: (ctx) => ctx.provide(Db, { rows: 3 }) },
      { setup: (ctx) => void seen.push(inject(ctx, Db).rows) },
    ])
    const work = tool('work', (_, ctx) => seen.push(inject(ctx, Db).rows))
    await build(oneCall, [hooks], { tools: [work] }).agent.run('hi')
    expect(seen).toEqual([3, 3, 3, 3, 3])
  })

  it('provide for their run alone', async () => {
    const User = capability<string>('user')
    const seen: unknown[] = []
    const { agent } = build(['a', 'b'])
    const session = agent.session()
    await session.run('one', { use: [from({ setup: (ctx) => ctx.provide(User, 'dana') })] })
    await session.run('two', {
      use: [
        (ctx, next) => {
          expect(() => inject(ctx, User)).toThrow(/"user"/)
          seen.push('missing')
          return next()
        },
      ],
    })
    expect(seen).toEqual(['missing'])
  })
})

describe('several layers', () => {
  it('nest as an onion: the first is the first on the way in, and the last on the way out', async () => {
    const log: string[] = []
    const hooks = (name: string) => {
      const note = (hook: string) => () => void log.push(`${name}:${hook}`)
      return from({
        onStart: note('start'),
        onBeforeToolCall: note('before'),
        onAfterToolCall: note('after'),
        onFinish: note('finish'),
      })
    }
    await build(oneCall, [hooks('a'), hooks('b')]).agent.run('hi')
    expect(log).toEqual(['a:start', 'b:start', 'a:before', 'b:before', 'b:after', 'a:after', 'b:finish', 'a:finish'])
  })

  it('of one run stand inside those of the agent', async () => {
    const log: string[] = []
    const start = (name: string): Lifecycle => ({ onStart: () => void log.push(name) })
    const { agent } = build(['a', 'b'], [from(start('agent'))])
    await agent.run('hi', { use: [from(start('run'))] })
    await agent.run('hi')
    expect(log).toEqual(['agent', 'run', 'agent'])
  })

  it('share a turn, and keep sessions apart', async () => {
    const seen: string[] = []
    const hooks = from({ onUsage: (ctx, { outputTokens }) => void seen.push(`${ctx.sessionId} ${outputTokens}`) })
    const { agent } = build(['a', 'b'], [hooks])
    await Promise.all([agent.session({ id: 'one' }).run('hi'), agent.session({ id: 'two' }).run('hi')])
    expect(seen.sort()).toEqual(['one 5', 'two 5'])
  })

  it('cost nothing in scopes that their hooks do not need', () => {
    const { agent } = build(
      [],
      [from({ getName: () => 'a', onFinish() {} }), from({ getName: () => 'b', onBeforeToolCall() {} })],
    )
    expect(agent.inspect().scopes).toMatchObject({ turn: ['a', 'b'], model: [], tool: ['b'] })
  })
})

describe('a layer of hooks in a combinator', () => {
  it('runs where the predicate says so', async () => {
    const log: string[] = []
    const { agent } = build(['a', 'b'], [when((ctx) => ctx.principal === 'dana', from(recorder(log)))])
    await agent.run('hi')
    expect(log).toEqual([])
    await agent.run('hi', { session: { principal: 'dana' } })
    expect(log).toContain('onFinish')
  })

  it('lets calls pass where its turn hook was left out', async () => {
    const log: string[] = []
    const hooks = when((_, scope) => scope !== 'turn', from(recorder(log)))
    expect((await build(oneCall, [hooks]).agent.run('hi')).text).toBe('done')
    expect(log).toEqual([])
  })
})

describe('the name of a layer', () => {
  class Audit {
    onStart() {}
  }
  it.each([
    ['by getName()', from({ getName: () => 'mine' }), 'mine'],
    ['by its class', from(new Audit()), 'Audit'],
    ['of a class that was given', from(Audit), 'Audit'],
    ['of several', from([new Audit(), { getName: () => 'b' }]), 'Audit+b'],
    ['as it is told', from(new Audit(), { as: 'first' }), 'first'],
  ])('is %s', (_, layer, name) => expect(layer.name).toBe(name))

  it('is one by place where nothing gives it, so that two of them do not clash', async () => {
    const { agent } = build(['done'], [from({ onStart() {} }), from({ onStart() {} })])
    expect(agent.inspect().scopes.turn).toEqual([
      expect.stringMatching(/^hooks#\d+$/),
      expect.stringMatching(/^hooks#\d+$/),
    ])
  })
})

describe('from()', () => {
  it.each([
    ['null', null, /null was given/],
    ['a text', 'audit', /string was given/],
    ['a layer', { name: 'x', turn() {} }, /it has the hook turn/],
    ['an unknown hook', { onStart() {}, onTurnStart() {} }, /the unknown hook onTurnStart\..*Available: onStart/],
    ['a hook that is no function', { onStart: 'now' }, /onStart of .* has the type string/],
  ])('refuses %s', (_, given, message) => {
    expect(() => from(given as never)).toThrow(
      expect.objectContaining({ code: 'layer.invalid', message: expect.stringMatching(message) }),
    )
  })
})
