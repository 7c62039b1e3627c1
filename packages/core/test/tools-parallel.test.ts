import { describe, expect, it } from 'vitest'
import type { Middleware } from '../src/index.ts'
import { build, failure, gate, rest, results, tool, traffic, turn, types } from './kit.ts'

const calls = (count: number) => ({
  toolCalls: Array.from({ length: count }, (_, n) => ({ name: 'work', args: { n }, callId: `c${n}` })),
})

/** A tool that counts how many of it run at once; each later call ends sooner. */
function counting() {
  const seen = { now: 0, most: 0, order: [] as number[] }
  const work = tool('work', async ({ n }) => {
    seen.most = Math.max(seen.most, ++seen.now)
    for (let i = 0; i < 10 - (n % 10); i++) await rest()
    seen.now--
    seen.order.push(n)
    return `result ${n}`
  })
  return { seen, work }
}

describe('tool calls of one step', () => {
  it.each([
    [1, 1],
    [3, 3],
    [8, undefined],
  ])('run at most %i at once', async (most, toolConcurrency) => {
    const { seen, work } = counting()
    await turn([calls(10), 'done'], [], { tools: [work], ...(toolConcurrency && { toolConcurrency }) })
    expect(seen.most).toBe(most)
  })

  it('keep their results in the order of the calls, whichever ends first', async () => {
    const { seen, work } = counting()
    const { session, result } = await turn([calls(8), 'done'], [], { tools: [work] })
    expect(seen.order).not.toEqual([...seen.order].sort())
    expect(traffic(session.history).results).toEqual(traffic(session.history).calls)
    expect(results(session.history).c5).toBe('result 5')
    expect(result?.toolCalls.map(({ callId }) => callId)).toEqual(traffic(session.history).calls)
  })

  it('run one after the other, in order, with a concurrency of 1', async () => {
    const { seen, work } = counting()
    const { events } = await turn([calls(3), 'done'], [], { tools: [work], toolConcurrency: 1 })
    expect(seen.order).toEqual([0, 1, 2])
    expect(types(events).filter((type) => type.startsWith('tool:'))).toEqual([
      'tool:start',
      'tool:end',
      'tool:start',
      'tool:end',
      'tool:start',
      'tool:end',
    ])
  })

  it('of 500 keep one result each', async () => {
    const { session, result } = await turn([calls(500), 'done'], [], { tools: [tool('work', ({ n }) => n)] })
    expect(result?.status).toBe('completed')
    const { calls: ids, results: answered } = traffic(session.history)
    expect([ids.length, answered]).toEqual([500, ids])
  })

  it('do not stop for one that fails softly', async () => {
    const flaky = tool('work', ({ n }) => {
      if (n === 1) throw new Error('one')
      return n
    })
    const { result } = await turn([calls(3), 'done'], [], { tools: [flaky] })
    expect(result?.toolCalls.map((call) => call.result.status)).toEqual(['ok', 'error', 'ok'])
  })

  it('fail the turn where a layer throws, cancel the siblings, and keep one result each', async () => {
    let cancelled = 0
    const slow = tool(
      'work',
      (_, { signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            cancelled++
            reject(signal.reason)
          }),
        ),
    )
    const broken: Middleware = {
      name: 'broken',
      async tool(ctx, next) {
        if (ctx.callIndex !== 1) return next()
        await rest()
        throw new Error('layer broke')
      },
    }
    const { error, session, model } = await turn([calls(4)], [broken], { tools: [slow], toolConcurrency: 3 })
    expect([error?.message, cancelled, model.calls]).toEqual(['layer broke', 2, 1])
    expect(traffic(session.history).results).toEqual(['c0', 'c1', 'c2', 'c3'])
  })

  it('lose nothing of an additive reducer', async () => {
    const meter: Middleware = {
      name: 'meter',
      state: { total: { default: 0, reducer: (a, b) => a + b }, seen: { default: [], reducer: (a, b) => [...a, b] } },
      async tool(ctx, next) {
        const result = await next()
        await rest()
        ctx.state.total = 1
        ctx.state.seen = ctx.callId
        return result
      },
    }
    const { work } = counting()
    const { result } = await turn([calls(50), 'done'], [meter], { tools: [work], toolConcurrency: 50 })
    expect([result?.state.total, new Set(result?.state.seen as string[]).size]).toEqual([50, 50])
  })

  it('have contexts of their own', async () => {
    const seen: unknown[] = []
    const layer: Middleware = {
      name: 'reader',
      async tool(ctx, next) {
        await rest()
        const result = await next()
        seen.push([ctx.callId, ctx.callIndex, ctx.args.n])
        return result
      },
    }
    await turn([calls(3), 'done'], [layer], { tools: [tool('work')] })
    expect(seen).toEqual([
      ['c0', 0, 0],
      ['c1', 1, 1],
      ['c2', 2, 2],
    ])
  })

  it('run again for each step, with callIndex from 0', async () => {
    const seen: unknown[] = []
    const layer: Middleware = {
      name: 'reader',
      tool(ctx, next) {
        seen.push([ctx.stepIndex, ctx.callIndex])
        return next()
      },
    }
    const two = { toolCalls: [{ name: 'work' }, { name: 'work' }] }
    await turn([two, two, 'done'], [layer], { tools: [tool('work')] })
    expect(seen).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ])
  })

  it('that wait for one another do not lock', async () => {
    const first = gate()
    const tools = [tool('waiter', () => first.promise.then(() => 'waited')), tool('opener', () => first.open())]
    const { agent } = build([{ toolCalls: [{ name: 'waiter' }, { name: 'opener' }] }, 'done'], [], { tools })
    expect((await agent.run('hi')).text).toBe('done')
  })

  it('of a cut step do not run', async () => {
    let ran = 0
    const { agent } = build([{ toolCalls: [{ name: 'work' }], cut: true }], [], { tools: [tool('work', () => ran++)] })
    const session = agent.session()
    await failure(session.run('hi'))
    expect([ran, traffic(session.history)]).toEqual([0, { calls: [], results: [] }])
  })
})
