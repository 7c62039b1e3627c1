import { describe, expect, it } from 'vitest'
import { compose } from '../src/index.ts'
import { failure } from './kit.ts'

type Layer = Parameters<typeof compose<{ log: unknown[] }, unknown>>[0][number]
const trace =
  (before: unknown, after: unknown): Layer =>
  async (ctx, next) => {
    ctx.log.push(before)
    await next()
    ctx.log.push(after)
  }

describe('compose', () => {
  it('runs in through the layers and out again', async () => {
    const ctx = { log: [] as unknown[] }
    await compose([trace(1, 6), trace(2, 5), trace(3, 4)])(ctx)
    expect(ctx.log).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('takes an empty chain, alone or with a core', async () => {
    expect(await compose([])({})).toBeUndefined()
    expect(await compose([])({}, () => 'core')).toBe('core')
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
    expect((await failure(run({ log: [] }))).message).toBe('next() called multiple times')
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

  it('does not see a later change of the array it was given in a running chain', async () => {
    const log: unknown[] = []
    const layers: Layer[] = [trace(1, 2)]
    const run = compose(layers)
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
})
