import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ComposeLayer, compose } from '../src/index.ts'
import { failure, rest } from './kit.ts'

type Layer = ComposeLayer<{ log: unknown[] }>
const trace =
  (before: unknown, after: unknown): Layer =>
  async (ctx, next) => {
    ctx.log.push(before)
    await next()
    ctx.log.push(after)
  }

describe.each(['development', 'production'])('compose in %s', (mode) => {
  beforeEach(() => void vi.stubEnv('NODE_ENV', mode))
  afterEach(() => void vi.unstubAllEnvs())

  it('runs in through the layers and out again', async () => {
    const ctx = { log: [] as unknown[] }
    await compose([trace(1, 6), trace(2, 5), trace(3, 4)])(ctx)
    expect(ctx.log).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('takes layers one by one, in lists, and in lists of lists', async () => {
    const ctx = { log: [] as unknown[] }
    await compose(trace(1, 8), [trace(2, 7), [trace(3, 6), [trace(4, 5)]]], [])(ctx)
    expect(ctx.log).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('takes an empty chain or none at all, alone or with a core', async () => {
    expect(await compose([])({})).toBeUndefined()
    expect(await compose()({})).toBeUndefined()
    expect(await compose()({}, () => 'core')).toBe('core')
    expect(await compose([])({}, () => 'core')).toBe('core')
  })

  it('refuses an empty list in a list, as koa-compose does', () => {
    expect(() => compose([[]])).toThrow(TypeError)
    expect(() => compose([trace(1, 2), []])).toThrow('not an empty list in a list')
  })

  it.each([[undefined], [null], [7], [{}], ['text']])('refuses %j as the chain', (layers) => {
    expect(() => compose(layers as never)).toThrow(TypeError)
  })

  it.each([[[{}]], [[() => {}, 'x']], [[null]]])('refuses a chain with something that is no function', (layers) => {
    expect(() => compose(layers as never)).toThrow(TypeError)
  })

  it('gives every layer and the core the same context, and the core a next of its own', async () => {
    const ctx = { n: 0 }
    const seen: unknown[] = []
    await compose<object>([
      (given, next) => {
        seen.push(given)
        return next()
      },
    ])(ctx, async (given, next) => {
      seen.push(given, await next())
    })
    expect(seen).toEqual([ctx, ctx, undefined])
  })

  it('passes values out, from a sync core through sync and async layers', async () => {
    const run = compose<object, number>([async (_, next) => (await next()) * 2, (_, next) => next().then((n) => n + 1)])
    expect(await run({}, () => 20)).toBe(42)
  })

  it.each<[string, Layer]>([
    [
      'a sync layer',
      () => {
        throw new Error('mine')
      },
    ],
    [
      'an async layer',
      async () => {
        throw new Error('mine')
      },
    ],
    [
      'a layer after next()',
      async (_, next) => {
        await next()
        throw new Error('mine')
      },
    ],
  ])('rejects with what %s throws, and never throws itself', async (_, layer) => {
    expect((await failure(compose([trace(1, 2), layer])({ log: [] }))).message).toBe('mine')
  })

  it('lets an outer layer catch', async () => {
    const ctx = { log: [] as unknown[] }
    await compose<typeof ctx>([
      (_, next) => next().catch((error) => ctx.log.push(error.message)),
      () => {
        throw new Error('inner')
      },
    ])(ctx)
    expect(ctx.log).toEqual(['inner'])
  })

  it.each<[string, Layer]>([
    [
      'awaited',
      async (_, next) => {
        await next()
        await next()
      },
    ],
    [
      'at once',
      (_, next) => {
        void next()
        return next()
      },
    ],
  ])('rejects a second next(), %s', async (_, twice) => {
    const inner: string[] = []
    const run = compose<{ log: unknown[] }>([
      twice,
      async (_, next) => {
        inner.push('in')
        await next()
      },
    ])
    expect(await failure(run({ log: [] }))).toMatchObject({
      code: 'layer.next_twice',
      message: expect.stringMatching(/^next\(\) called multiple times by/),
    })
    expect(inner).toEqual(['in'])
  })

  it('rejects a second next() in each place of the chain, the core included', async () => {
    const twice: Layer = async (_, next) => {
      await next()
      await next()
    }
    const core: Layer = async (_, next) => {
      await next()
      await next()
    }
    expect((await failure(compose([trace(1, 2), twice])({ log: [] }))).message).toMatch(/multiple times/)
    expect((await failure(compose([trace(1, 2)])({ log: [] }, core))).message).toMatch(/multiple times/)
  })

  it('may be run again and again, also by itself, and nested', async () => {
    const inner = compose([trace('b', 'c')])
    const run = compose<{ log: unknown[] }, unknown>([trace('a', 'd'), (ctx, next) => inner(ctx, next)])
    const [one, two] = [{ log: [] as unknown[] }, { log: [] as unknown[] }]
    await Promise.all([run(one), run(two)])
    expect([one.log, two.log]).toEqual([
      ['a', 'b', 'c', 'd'],
      ['a', 'b', 'c', 'd'],
    ])
  })

  it('does not see a later change of the array that it was given', async () => {
    const log: unknown[] = []
    const layers: Layer[] = [trace(1, 2)]
    const run = compose(layers)
    layers.push(trace(3, 4))
    await run({ log })
    expect(log).toEqual([1, 2])
  })

  it('keeps the place of a layer that forgets next(): what is inside does not run', async () => {
    let ran = false
    expect(
      await compose<object, string>([() => 'mine'])({}, () => {
        ran = true
        return 'core'
      }),
    ).toBe('mine')
    expect(ran).toBe(false)
  })

  it.each<[string, Layer]>([
    ['drops its next()', (_, next) => void next()],
    [
      'drops its next() and waits for something shorter',
      async (_, next) => {
        void next()
        await null
      },
    ],
  ])('rejects where a layer %s: it resolved before downstream', async (_, drops) => {
    const slow: Layer = async () => {
      for (let i = 0; i < 10; i++) await null
    }
    const error = await failure(compose([trace(1, 2), drops, slow])({ log: [] }))
    expect(error).toMatchObject({ code: 'layer.floating_next' })
    expect(error.message).toMatch(/^layer#2 resolved before downstream.*Write "await next\(\)"/)
  })

  it('tells the error of the layer that failed, and drops what a forgotten next() rejects with later', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    const late: Layer = async () => {
      await null
      throw new Error('late')
    }
    const drops: Layer = (_, next) => void next()
    const throws: Layer = (_, next) => {
      void next()
      throw new Error('mine')
    }
    expect((await failure(compose([throws, late])({ log: [] }))).message).toBe('mine')
    expect((await failure(compose([drops, late])({ log: [] }))).message).toMatch(/before downstream/)
    await rest()
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('gives a next() that returns a promise, whatever is inside', async () => {
    const given: unknown[] = []
    const keep: Layer = (_, next) => {
      const inside = next()
      given.push(inside)
      return inside
    }
    await compose([keep, keep, () => 'sync'])({ log: [] })
    expect(given.map((inside) => inside instanceof Promise)).toEqual([true, true])
  })

  it('gives the layer what a core gives that goes on to its own next()', async () => {
    const run = compose<object, unknown>([(_, next) => next()])
    expect(await run({}, async (_, next) => ((await next()) === undefined ? 'end' : 'more'))).toBe('end')
  })

  it('leaves the list that it was given as it is', () => {
    const layers = [trace(1, 2), [trace(3, 4)]]
    const before = [...layers]
    compose(layers)
    expect(layers).toEqual(before)
  })

  it('rejects where the core is no function', async () => {
    expect(await failure(compose([])({}, 'no function' as never))).toBeInstanceOf(TypeError)
  })

  it('runs a thousand layers', async () => {
    const ctx = { log: [] as unknown[] }
    await compose(Array.from({ length: 1000 }, (_, i) => trace(i, i)))(ctx)
    expect(ctx.log).toHaveLength(2000)
  })
})
