import { describe, expect, it } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import type { Middleware, TurnContext } from '../src/index.ts'
import { build, gate, oneCall, only, read, results, tool } from './kit.ts'

const hanging = (seen: AbortSignal[], more = {}) =>
  tool(
    'work',
    (_, { signal }) => {
      seen.push(signal)
      return new Promise(() => {})
    },
    more,
  )

describe('toolTimeout', () => {
  it('holds for a tool while it runs: what one that is done says later is heard', async () => {
    const clock = manualClock()
    const answers = gate()
    const slow: Middleware = {
      name: 'slow',
      async model(ctx, next) {
        if (ctx.callIndex === 1) await answers.promise
        return next()
      },
    }
    const work = tool('work', (_, ctx) => {
      clock.after(600, () => (ctx as unknown as TurnContext).emit({ type: 'work:done' }))
      return 'begun'
    })
    const { agent } = build(oneCall, [slow], { clock, toolTimeout: 500, tools: [work] })
    const run = agent.run('hi')
    await clock.advance(700)
    answers.open()
    expect(only((await read(run)).events, 'work:done')).toHaveLength(1)
  })

  it('cancels a tool that hangs, and tells the model; the turn goes on', async () => {
    const clock = manualClock()
    const signals: AbortSignal[] = []
    const { agent, model } = build(oneCall, [], { clock, toolTimeout: 500, tools: [hanging(signals)] })
    const run = agent.run('hi')
    await clock.advance(499)
    expect([signals[0]?.aborted, model.calls]).toEqual([false, 1])
    await clock.advance(1)
    expect([signals[0]?.aborted, signals[0]?.reason.name]).toEqual([true, 'TimeoutError'])
    const { text, toolCalls } = await run
    expect([text, toolCalls[0]?.result.status]).toEqual(['done', 'error'])
    expect(results(model.requests[1]!.messages).c1).toMatch(/500 ms/)
  })

  it('is the timeout of the tool where it has one', async () => {
    const clock = manualClock()
    const { agent } = build(oneCall, [], { clock, toolTimeout: 500, tools: [hanging([], { timeout: 10 })] })
    const run = agent.run('hi')
    await clock.advance(10)
    expect((await run).toolCalls[0]?.result.content).toMatch(/10 ms/)
  })

  it('drops a result that comes late', async () => {
    const clock = manualClock()
    const late = gate<string>()
    const { agent } = build(oneCall, [], { clock, tools: [tool('work', () => late.promise, { timeout: 10 })] })
    const session = agent.session()
    const run = session.run('hi')
    await clock.advance(10)
    await run
    late.open('too late')
    await clock.advance(0)
    expect(results(session.history).c1).not.toContain('too late')
  })

  it('survives a tool that rejects late', async () => {
    const clock = manualClock()
    const late = gate<string>()
    const { agent } = build(oneCall, [], { clock, tools: [tool('work', () => late.promise, { timeout: 10 })] })
    const run = agent.run('hi')
    await clock.advance(10)
    late.fail(new Error('late'))
    expect((await run).status).toBe('completed')
  })

  it('covers execute alone, not the wait of a layer', async () => {
    const clock = manualClock()
    const approver: Middleware = {
      name: 'approver',
      async tool(_, next) {
        await new Promise<void>((resolve) => clock.after(60_000, resolve))
        return next()
      },
    }
    const { agent } = build(oneCall, [approver], { clock, toolTimeout: 10, tools: [tool('work')] })
    const run = agent.run('hi')
    await clock.advance(60_000)
    expect((await run).toolCalls[0]?.result.status).toBe('ok')
  })

  it('leaves no timer behind: after a result, an error, an abort', async () => {
    const clock = manualClock()
    const steps = [{ toolCalls: [{ name: 'ok' }, { name: 'bad' }] }, { toolCalls: [{ name: 'work' }] }]
    const tools = [
      tool('ok', async () => 1),
      tool('bad', async () => {
        throw new Error('bad')
      }),
      hanging([]),
    ]
    const { agent } = build(steps, [], { clock, tools })
    const run = agent.run('hi')
    for await (const event of run) if (event.type === 'tool:start' && event.name === 'work') break
    await read(run).catch(() => {})
    await clock.advance(0)
    expect(clock.pending).toBe(0)
  })
})
