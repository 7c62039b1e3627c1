import type { Middleware } from '@allium/core'
import { manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { from, type Lifecycle } from '../src/index.ts'
import { build, oneCall, rest, settled, tool } from './kit.ts'

/** Notes which terminal hook fires. */
const terminals = (log: string[], mark = ''): Lifecycle => ({
  onFinish: (_, { status }) => void log.push(`${mark}finish ${status}`),
  onAbort: (_, { reason }) => void log.push(`${mark}abort ${reason}`),
  onError: (_, { error }) => void log.push(`${mark}error ${(error as Error).message}`),
})
const fails = (message: string) => () => {
  throw new Error(message)
}

describe('exactly one terminal hook fires', () => {
  const block: Middleware = { name: 'block', turn: (ctx) => ctx.block('no') }
  const approve = { ...tool('work'), requireApproval: true }

  it.each([
    ['onFinish of a run that completed', 'finish completed', build.bind(null, ['done'])],
    ['onFinish of one that was stopped', 'finish stopped', (layers: []) => build(oneCall, layers, { maxSteps: 1 })],
    ['onFinish of one that was blocked', 'finish blocked', (layers: []) => build([], [...layers, block])],
    ['onFinish of one that waits', 'finish suspended', (layers: []) => build(oneCall, layers, { tools: [approve] })],
    ['onError where the model fails', 'error 500', build.bind(null, [new Error('500')])],
    ['onError where a layer inside fails', 'error x', (layers: []) => build([], [...layers, fails('x')])],
    ['onError where a hook fails', 'error x', (layers: []) => build([], [...layers, from({ onStart: fails('x') })])],
  ])('%s', async (_, expected, make) => {
    const log: string[] = []
    await settled(make([from(terminals(log))] as never).agent.run('hi'))
    expect(log).toEqual([expected])
  })

  it('onError where a layer outside fails after all hooks have run', async () => {
    const log: string[] = []
    const outside: Middleware = {
      name: 'outside',
      async turn(_, next) {
        await next()
        throw new Error('too late')
      },
    }
    await settled(build(['done'], [outside, from(terminals(log))]).agent.run('hi'))
    expect(log).toEqual(['error too late'])
  })

  it('onError where the answer does not fit the schema of the output', async () => {
    const log: string[] = []
    const { agent } = build(['no json'], [from(terminals(log))], { tools: [] })
    await settled(agent.run('hi', { output: z.object({ city: z.string() }) }))
    expect(log).toEqual([expect.stringMatching(/^error The answer does not fit/)])
  })

  it('onAbort where the caller aborts', async () => {
    const log: string[] = []
    const { agent } = build([{ text: 'Hel', stall: true }], [from(terminals(log))])
    const run = agent.run('hi')
    agent.on('model:chunk', () => run.abort('enough'))
    await settled(run)
    expect(log).toEqual(['abort enough'])
  })

  it('onAbort where the reader breaks off', async () => {
    const log: string[] = []
    const run = build([{ text: 'one two three', stall: true }], [from(terminals(log))]).agent.run('hi')
    for await (const _ of run.textStream) break
    await run.settled()
    expect(log).toEqual(['abort the reader left the stream'])
  })

  it('onAbort where a hook aborts, and nothing more where it tries so at the end', async () => {
    const log: string[] = []
    const again: Lifecycle = { onAbort: (ctx) => ctx.abort('again') }
    const hooks = from([{ onIteration: (ctx) => ctx.abort('once') }, again, terminals(log)])
    await settled(build(['never'], [hooks]).agent.run('hi'))
    expect(log).toEqual(['abort once'])
  })
})

describe('terminal hooks', () => {
  it('are isolated from the errors of each other, which are reported', async () => {
    const log: string[] = []
    const { agent, log: logged } = build(
      ['done'],
      [from([{ onFinish: fails('one') }, terminals(log), { onFinish: fails('two') }])],
    )
    const reported: unknown[] = []
    agent.on('observer:error', ({ error }) => reported.push(error))
    expect((await agent.run('hi')).status).toBe('completed')
    expect([log, reported.length, logged.length]).toEqual([['finish completed'], 1, 1])
    expect(reported[0]).toMatchObject({ errors: [{ message: 'one' }, { message: 'two' }] })
  })

  it('are awaited before the run settles and its stream ends', async () => {
    const log: string[] = []
    const onFinish = async () => {
      await rest()
      log.push('hook')
    }
    for await (const _ of build(['done'], [from({ onFinish })]).agent.run('hi')) void _
    log.push('end of the stream')
    expect(log).toEqual(['hook', 'end of the stream'])
  })

  it('tell text, usage, reason and duration', async () => {
    const seen: unknown[] = []
    await build(['done'], [from({ onFinish: (_, info) => void seen.push(info) })]).agent.run('hi')
    expect(seen).toEqual([
      {
        status: 'completed',
        reason: undefined,
        text: 'done',
        usage: { inputTokens: 10, outputTokens: 5, calls: 1 },
        duration: expect.any(Number),
      },
    ])
  })
})

describe('a terminal hook that does not come back', () => {
  const hangs: Lifecycle = { onFinish: () => new Promise(() => {}), onError: () => new Promise(() => {}) }

  it('is left after a time, and told, and the others run', async () => {
    const clock = manualClock()
    const log: string[] = []
    const { agent, log: logged } = build(
      ['done'],
      [from([hangs, hangs, terminals(log)], { as: 'slow', endTimeout: 500 })],
      { clock },
    )
    const run = agent.run('hi')
    await rest()
    expect(log).toEqual([])
    await clock.advance(500)
    expect((await run).text).toBe('done')
    expect(log).toEqual(['finish completed'])
    expect(logged.join()).toMatch(/onFinish .*500 ms/)
  })

  it('is left after 30 seconds, where nothing else is said', async () => {
    const clock = manualClock()
    const { agent } = build(['done'], [from(hangs)], { clock })
    const run = agent.run('hi')
    let over = false
    void run.then(() => (over = true))
    await rest()
    await clock.advance(29_000)
    expect(over).toBe(false)
    await clock.advance(1_000)
    expect((await run).text).toBe('done')
  })

  it('leaves no timer behind where it comes back', async () => {
    const clock = manualClock()
    await build(['done'], [from({ onFinish() {} })], { clock }).agent.run('hi')
    expect(clock.pending).toBe(0)
  })
})

describe('ctx.defer', () => {
  it('is awaited as part of the completion, and does not hold the stream', async () => {
    const log: string[] = []
    let write = () => {}
    const written = new Promise<void>((resolve) => (write = resolve)).then(() => log.push('written'))
    const run = build(['done'], [from({ onFinish: (ctx) => ctx.defer(written) })]).agent.run('hi')
    for await (const _ of run) void _
    log.push('end of the stream')
    write()
    await run
    expect(log).toEqual(['end of the stream', 'written'])
  })

  it('reports a rejection to observers and the logger, and fails nothing', async () => {
    const { agent, log } = build(
      ['done'],
      [from({ onStart: (ctx) => ctx.defer(Promise.reject(new Error('disk full'))) })],
    )
    const reported: unknown[] = []
    agent.on('observer:error', ({ error }) => reported.push((error as Error).message))
    expect((await agent.run('hi')).status).toBe('completed')
    expect([reported, log.length]).toEqual([['disk full'], 1])
  })
})
