import { describe, expect, it } from 'vitest'
import type { Middleware, ScopeName } from '../src/index.ts'
import { build, oneCall, scopes, tool, turn } from './kit.ts'

const deep = (count: number, layer: (i: number) => Partial<Middleware>) =>
  Array.from({ length: count }, (_, i): Middleware => ({ name: `layer-${i}`, ...layer(i) }))

const unchecked = { orderCheck: 'off' as const }

describe('a thousand layers', () => {
  it.each(
    scopes.flatMap(
      (scope) =>
        [
          [scope, 'async'],
          [scope, 'sync'],
        ] as const,
    ),
  )('work in the %s scope, %s', async (scope: ScopeName, kind) => {
    let entered = 0
    const hook =
      kind === 'async'
        ? async (_: unknown, next: () => Promise<never>) => {
            entered++
            return await next()
          }
        : (_: unknown, next: () => Promise<never>) => {
            entered++
            return next()
          }
    const { agent } = build(
      oneCall,
      deep(1000, () => ({ [scope]: hook })),
      { ...unchecked, tools: [tool('work')] },
    )
    const session = agent.session()
    expect((await session.run('hi')).text).toBe('done')
    await session.close()
    await agent.dispose()
    expect(entered).toBe(scope === 'model' ? 2000 : 1000)
  })

  it.each(['onChunk', 'pipe', 'hold'] as const)('may each have a transform: %s', async (verb) => {
    const layers = deep(1000, () => ({
      model(ctx: Parameters<NonNullable<Middleware['model']>>[0], next: () => Promise<never>) {
        if (verb === 'onChunk') ctx.onChunk((chunk) => chunk)
        if (verb === 'pipe') ctx.pipe((chunks) => chunks)
        if (verb === 'hold') ctx.hold()
        return next()
      },
    }))
    const { result, shown } = await turn([{ chunks: ['a', 'b', 'c'] }], layers, unchecked)
    expect([result?.text, shown]).toEqual(['abc', 'abc'])
  })

  it('pass an error from the core to the outermost layer', async () => {
    const error = new Error('core')
    const seen: unknown[] = []
    const layers = deep(1000, () => ({
      model: (_: unknown, next: () => Promise<never>) =>
        next().catch((caught) => {
          seen.push(caught)
          throw caught
        }),
    }))
    expect((await turn([error], layers, unchecked)).error).toBe(error)
    expect(new Set(seen).size).toBe(1)
    expect(seen).toHaveLength(1000)
  })

  it('past what the stack holds are a typed error, or work', async () => {
    const layers = deep(20_000, () => ({ turn: (_, next) => next() }))
    const { result, error } = await turn(['ok'], layers, unchecked)
    expect(result?.text ?? error?.code).toMatch(/^(ok|layer\.too_deep)$/)
  })

  it('are checked for their order', async () => {
    const layers = deep(1000, () => ({ turn: (_, next) => next() }))
    expect(build([], layers).agent.check()).toEqual([])
  })
})
