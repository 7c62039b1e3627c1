import { describe, expect, it } from 'vitest'
import { addUsage, cleanUsage, type Middleware, noUsage } from '../src/index.ts'
import { oneCall, tool, turn } from './kit.ts'

describe('usage', () => {
  it.each<[string, object, object]>([
    ['missing', {}, { inputTokens: 0, outputTokens: 0 }],
    ['negative', { inputTokens: -5, outputTokens: -1 }, { inputTokens: 0, outputTokens: 0 }],
    [
      'NaN and infinite',
      { inputTokens: Number.NaN, outputTokens: Number.POSITIVE_INFINITY },
      { inputTokens: 0, outputTokens: 0 },
    ],
    ['texts', { inputTokens: '12', outputTokens: {} }, { inputTokens: 0, outputTokens: 0 }],
    ['fractions', { inputTokens: 1.9, outputTokens: 2 }, { inputTokens: 1, outputTokens: 2 }],
    [
      'caches and reasoning',
      { inputTokens: 9, outputTokens: 4, cachedInputTokens: 3, cacheWriteTokens: -1, reasoningTokens: 2 },
      { inputTokens: 9, outputTokens: 4, cachedInputTokens: 3, cacheWriteTokens: 0, reasoningTokens: 2 },
    ],
    ['calls of its own', { inputTokens: 1, outputTokens: 1, calls: 99 }, { inputTokens: 1, outputTokens: 1 }],
  ])('of a provider is cleaned: %s', async (_, usage, clean) => {
    const { result } = await turn([{ text: 'ok', usage }])
    expect(result?.usage).toEqual({ ...clean, calls: 1 })
  })

  it('takes a finish without any', async () => {
    const { result } = await turn([{ chunks: ['ok', { type: 'finish', reason: 'stop' } as never] }])
    expect(result?.usage).toEqual({ inputTokens: 0, outputTokens: 0, calls: 1 })
  })

  it('adds up over steps, and is seen by layers as a copy', async () => {
    const seen: unknown[] = []
    const layer: Middleware = {
      name: 'reader',
      async turn(ctx, next) {
        await next()
        seen.push(ctx.usage)
        Object.assign(ctx.usage, { calls: 99 })
      },
    }
    const { result } = await turn(oneCall, [layer], { tools: [tool('work')] })
    expect(seen).toEqual([{ inputTokens: 20, outputTokens: 10, calls: 2 }])
    expect(result?.usage).toEqual(seen[0])
  })

  it('counts failed physical calls as calls', async () => {
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    expect((await turn([new Error('down'), 'up'], [retry])).result?.usage).toEqual({
      inputTokens: 10,
      outputTokens: 5,
      calls: 2,
    })
  })

  it('is added field by field', () => {
    const total = noUsage()
    addUsage(total, cleanUsage({ inputTokens: 1, cachedInputTokens: 1 }, 1))
    addUsage(total, cleanUsage({ outputTokens: 2, reasoningTokens: 2 }, 1))
    expect(total).toEqual({ inputTokens: 1, outputTokens: 2, cachedInputTokens: 1, reasoningTokens: 2, calls: 2 })
  })
})
