import { describe, expect, it } from 'vitest'
import { defineMiddleware, layerOptions, misconfigured, option, sum, withState } from '../src/index.ts'
import { build, oneCall, settled } from './kit.ts'

interface Rate {
  limit: number
  window?: 'minute' | 'hour' | number
}
interface LimitOptions {
  limit: number
  tools?: readonly string[]
  per?: 'turn' | 'session'
  part?: number
  rates?: readonly Rate[]
  headers?: Readonly<Record<string, string>>
  secret?: string
  when?(): boolean
  as?: string
}

const readOptions = layerOptions<LimitOptions>('own:limit', {
  limit: option.required(option.number({ from: 0 }), 'the calls that may be made'),
  tools: option.some(option.text),
  per: option.oneOf('turn', 'session'),
  part: option.number({ above: 0, below: 1 }),
  rates: option.list(
    option.shape<Rate>({
      limit: option.required(option.whole(1)),
      window: option.either(option.oneOf('minute', 'hour'), option.number({ above: 0 })),
    }),
  ),
  headers: option.record(option.text),
  secret: option.secret,
  when: option.fn,
})

describe('the options of a layer', () => {
  it('are what was given, where all is right', () => {
    const given: LimitOptions = {
      limit: 0,
      tools: ['*'],
      per: 'turn',
      part: 0.5,
      rates: [{ limit: 1 }, { limit: 2, window: 5 }, { limit: 3, window: 'hour' }],
      headers: { a: 'b' },
      secret: 's',
      when: () => true,
      as: 'mine',
    }
    expect(readOptions(given)).toBe(given)
    expect(readOptions({ limit: Number.POSITIVE_INFINITY, tools: undefined } as never)).toMatchObject({
      limit: Infinity,
    })
  })

  it.each<[unknown, string]>([
    [{ limit: 1, scope: 'tenant' }, '"own:limit" does not know the option scope. Available: '],
    [{ limit: 1, prt: 0.5 }, 'does not know the option prt. Did you mean "part"? Available: part, per, '],
    [{ limit: 1, as: 'mine', lmit: 1 }, '"mine" does not know the option lmit. Did you mean "limit"?'],
    [
      { limit: 1, rates: [{ limit: 1 }, { limit: 1, windo: 5 }] },
      'the option rates[1].windo. Did you mean "window"? Available: window, limit.',
    ],
    [undefined, '"own:limit" needs the option limit: the calls that may be made.'],
    [{}, '"own:limit" needs the option limit: the calls that may be made.'],
    [{ limit: 1, rates: [{}] }, '"own:limit" needs the option rates[0].limit.'],
    [{ limit: -1 }, '"own:limit" needs limit to be a number of 0 or more, not -1.'],
    [{ limit: Number.NaN }, 'needs limit to be a number of 0 or more, not NaN.'],
    [{ limit: '1' }, 'needs limit to be a number of 0 or more, not "1".'],
    [{ limit: null }, 'needs limit to be a number of 0 or more, not null.'],
    [{ limit: 1, part: 1 }, 'needs part to be a number above 0 and below 1, not 1.'],
    [{ limit: 1, per: 'tenant' }, `needs per to be 'turn' or 'session', not "tenant".`],
    [{ limit: 1, tools: [] }, 'needs a non-empty tools.'],
    [{ limit: 1, tools: 'a' }, 'needs tools to be a list, not "a".'],
    [{ limit: 1, tools: ['a', 5] }, 'needs tools[1] to be a text, not 5.'],
    [{ limit: 1, rates: [{ limit: 1.5 }] }, 'needs rates[0].limit to be a whole number, 1 or more, not 1.5.'],
    [
      { limit: 1, rates: [{ limit: 1, window: 'day' }] },
      `needs rates[0].window to be 'minute' or 'hour', or to be a number above 0, not "day".`,
    ],
    [{ limit: 1, headers: { 'x-a': 5 } }, 'needs headers["x-a"] to be a text, not 5.'],
    [{ limit: 1, when: true }, 'needs when to be a function, not true.'],
    [{ limit: 1, as: 5 }, 'needs as to be a text, not 5.'],
    [5, '"own:limit" takes an object of options, not 5.'],
    [[1], '"own:limit" takes an object of options, not an array.'],
    [() => 1, '"own:limit" takes an object of options, not'],
  ])('are told wrong: %j', (given, message) => {
    const read = () => readOptions(given as LimitOptions)
    expect(read).toThrow(expect.objectContaining({ code: 'layer.config' }))
    expect(read).toThrow(message)
  })

  it('are never told where they are secret', () => {
    expect(() => readOptions({ limit: 1, secret: 12345 as never })).toThrow('needs secret to be a text.')
  })

  it('say that a factory was given to use() uncalled', async () => {
    const limit = (given: LimitOptions) => ({ name: readOptions(given).as ?? 'own:limit' })
    const { agent } = build(['done'], [limit as never])
    expect((await settled(agent.run('hi'))).error).toMatchObject({
      code: 'layer.config',
      message:
        '"own:limit" was given to use() uncalled: it is a function that makes a layer. Write .use(own.limit({ … })).',
    })
  })
})

describe('for a layer whose keys are computed from its name', () => {
  it('the state is typed, and sums add up', async () => {
    const counted = <Name extends string>(as: Name) =>
      withState<Record<`${Name}:calls`, number>>(
        defineMiddleware<Record<string, number>>({
          name: as,
          state: { [`${as}:calls`]: sum() },
          model(ctx, next) {
            ctx.state[`${as}:calls`] = 1
            return next()
          },
        }),
      )
    const { agent } = build(oneCall)
    const { state } = await agent.use(counted('a')).run('hi')
    expect(state['a:calls'] satisfies number).toBe(2)
  })

  it('an error names it', () => {
    expect(misconfigured('mine', 'needs rules.')).toMatchObject({
      message: '"mine" needs rules.',
      details: { layer: 'mine' },
    })
  })
})
