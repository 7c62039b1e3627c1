import { describe, expect, it } from 'vitest'
import { memoryJournal } from '../../store/src/journal.ts'
import { manualClock, type ScriptedStep, scriptedModel } from '../../testing/src/index.ts'
import { physicalCallsOf } from '../src/context.ts'
import {
  Agent,
  addUsage,
  type Clock,
  delay,
  delegate,
  type Journal,
  type Middleware,
  type ModelChunk,
  noUsage,
  type Usage,
} from '../src/index.ts'
import { cleanUsage } from '../src/internal.ts'
import { build, oneCall, tool, turn } from './kit.ts'

const estimate = { inputTokens: 5, outputTokens: 1, estimated: true }
/** A run that was aborted or failed. */
interface Ended {
  partial: { usage: Usage }
}
const half: ModelChunk = { type: 'tool-input-delta', callId: 'c', delta: '{"a":"' }

describe('usage', () => {
  it.each<[string, object, object]>([
    ['missing', {}, estimate],
    ['zero', { inputTokens: 0, outputTokens: 0 }, estimate],
    ['negative', { inputTokens: -5, outputTokens: -1 }, estimate],
    ['NaN and infinite', { inputTokens: Number.NaN, outputTokens: Number.POSITIVE_INFINITY }, estimate],
    ['texts', { inputTokens: '12', outputTokens: {} }, estimate],
    ['half of it', { inputTokens: 9, cachedInputTokens: 3 }, { ...estimate, inputTokens: 9, cachedInputTokens: 3 }],
    [
      'its own estimate',
      { inputTokens: 9, outputTokens: 2, estimated: true },
      { inputTokens: 9, outputTokens: 2, estimated: true },
    ],
    ['fractions', { inputTokens: 1.9, outputTokens: 2 }, { inputTokens: 1, outputTokens: 2 }],
    [
      'caches and reasoning',
      { inputTokens: 9, outputTokens: 4, cachedInputTokens: 3, cacheWriteTokens: -1, reasoningTokens: 2 },
      { inputTokens: 9, outputTokens: 4, cachedInputTokens: 3, cacheWriteTokens: 0, reasoningTokens: 2 },
    ],
    [
      'cache writes of an hour, and a cost',
      { inputTokens: 9, outputTokens: 4, cacheWriteTokens: 3, cacheWriteHourTokens: 2.5, reportedCost: 0.25 },
      { inputTokens: 9, outputTokens: 4, cacheWriteTokens: 3, cacheWriteHourTokens: 2, reportedCost: 0.25 },
    ],
    ['a cost below zero', { inputTokens: 1, outputTokens: 1, reportedCost: -1 }, { inputTokens: 1, outputTokens: 1 }],
    ['no cost', { inputTokens: 1, outputTokens: 1, reportedCost: Number.NaN }, { inputTokens: 1, outputTokens: 1 }],
    ['calls of its own', { inputTokens: 1, outputTokens: 1, calls: 99 }, { inputTokens: 1, outputTokens: 1 }],
  ])('of a provider is cleaned, and what is left out estimated: %s', async (_, usage, clean) => {
    const { result } = await turn([{ text: 'ok', usage }])
    expect(result?.usage).toEqual({ ...clean, calls: 1 })
  })

  it('stays finite, however much a provider counts', async () => {
    const usage = { inputTokens: 1e308, outputTokens: 1e308 }
    const { result } = await turn(
      [
        { toolCalls: [{ name: 'work' }], usage },
        { text: 'ok', usage },
      ],
      [],
      { tools: [tool('work')] },
    )
    expect(result?.usage.inputTokens).toBe(2 * Number.MAX_SAFE_INTEGER)
  })

  it('takes a finish without any', async () => {
    const { result } = await turn([{ chunks: ['ok', { type: 'finish', reason: 'stop' } as never] }])
    expect(result?.usage).toEqual({ ...estimate, calls: 1 })
  })

  it('has no tokens of an answer that is empty', async () => {
    const { result } = await turn([{ usage: { inputTokens: 7, outputTokens: 0 } }])
    expect(result?.usage).toEqual({ inputTokens: 7, outputTokens: 0, calls: 1 })
  })

  it.each<[string, ScriptedStep]>([
    ['is cut', { text: 'eight ch', cut: true }],
    ['throws', { text: 'eight ch', error: new Error('down') }],
    [
      'leaves a tool input open',
      { chunks: ['eight ', { type: 'tool-input-start', callId: 'c', name: 'x' }, half], cut: true },
    ],
    ['is aborted', { text: 'eight ch', stall: true }],
  ])('is estimated of a call that %s behind its first chunk', async (_, step) => {
    const { agent } = build([step])
    let ended: unknown
    agent.on('turn:end', ({ usage }) => void (ended = usage))
    agent.on('model:chunk', ({ chunk }) => void ('delta' in chunk && chunk.delta === ' ch' && run.abort()))
    const run = agent.run('x'.repeat(40))
    const { partial } = (await run.catch((error) => error)) as Ended
    const { outputTokens, ...rest } = partial.usage
    expect(rest).toEqual({ inputTokens: 14, calls: 1, estimated: true })
    expect([2, 3]).toContain(outputTokens) // 8 characters, or 12
    expect(ended).toEqual(partial.usage)
  })

  it('is nothing of a call that failed or was left before its first chunk', async () => {
    const seen: unknown[] = []
    const left: Middleware = {
      name: 'left',
      async model(ctx, next) {
        await next().catch(() => {})
        seen.push(physicalCallsOf(ctx))
        const late = new AbortController()
        const waits = next({ signal: late.signal }).catch(() => 'gave up')
        setImmediate(() => late.abort(new Error('late')))
        const given = await waits
        seen.push(physicalCallsOf(ctx))
        return given
      },
    }
    const { result } = await turn([new Error('down'), { stall: true }], [left])
    const nothing = { model: 'scripted/model', usage: { inputTokens: 0, outputTokens: 0, calls: 1 } }
    expect(seen).toEqual([[nothing], [nothing, nothing]])
    expect(result?.usage).toEqual({ inputTokens: 0, outputTokens: 0, calls: 2 })
  })

  it('has no call of an attempt that was left before its call began', async () => {
    let begin = () => {}
    const journal: Journal = {
      step: (_, work, emit) => new Promise<void>((resolve) => (begin = resolve)).then(() => work(emit)),
    }
    const { agent, model } = build(['never'], [], { journal })
    const run = agent.run('hi')
    await new Promise(setImmediate)
    run.abort()
    const { partial } = (await run.catch((error) => error)) as Ended
    begin()
    await new Promise(setImmediate)
    expect([partial.usage, model.calls]).toEqual([{ inputTokens: 0, outputTokens: 0, calls: 0 }, 0])
  })

  it('is told by the model that answered, and by each layer for what was called inside it', async () => {
    const seen: string[] = []
    const reader = (name: string): Middleware => ({
      name,
      async model(ctx, next) {
        await next().finally(() => seen.push(`${name} ${physicalCallsOf(ctx).map(({ model }) => model)}`))
        return `${name}`
      },
    })
    const other = scriptedModel(['up'], { id: 'other' })
    const again: Middleware = {
      name: 'again',
      model: (ctx, next) =>
        next().catch(() => {
          ctx.setModel(other)
          return next()
        }),
    }
    await turn([{ text: 'x', cut: true }], [reader('outer'), again, reader('inner')], { run: {} }).catch(() => {})
    expect(seen).toEqual(['inner scripted/model', 'inner other', 'outer scripted/model,other'])
  })

  it('is the same where a run is replayed, failed calls included', async () => {
    const journal = memoryJournal()
    const same = () => 's'
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next().catch(() => next())) }
    const steps = [new Error('down'), { text: 'eight ch', cut: true }, 'up']
    const first = await turn(steps, [retry], { journal, ids: same })
    const again = await turn([], [retry], { journal: journal.reopen(), ids: same })
    expect(first.result?.usage).toEqual({ inputTokens: 15, outputTokens: 7, calls: 3, estimated: true })
    expect(again.result?.usage).toEqual(first.result?.usage)
  })

  it('is counted of a replayed call that is left before its end', async () => {
    const journal: Journal = {
      step: async (_, __, emit) => {
        await emit({ type: 'text-delta', delta: 'eight ch' } as never)
        return new Promise<never>(() => {})
      },
    }
    const { agent } = build([], [], { journal })
    agent.on('model:chunk', () => run.abort())
    const run = agent.run('hi')
    const { partial } = (await run.catch((error) => error)) as Ended
    expect(partial.usage).toEqual({ inputTokens: 5, outputTokens: 2, calls: 1, estimated: true })
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

describe('a layer that a sub-agent inherited', () => {
  /** Counts a call when it has come back from it, which takes so long. */
  const counts = (clock: Clock, ms: number): Middleware => ({
    name: 'counts',
    inherit: true,
    innermost: true,
    state: { count: { default: 0, reducer: (sum: number, more: number) => sum + more } },
    async model(ctx, next) {
      try {
        return await next()
      } finally {
        await delay(ms, clock, new AbortController().signal)
        ctx.state.count = physicalCallsOf(ctx).length
      }
    },
  })

  it('is waited for where the run is aborted', async () => {
    const clock = manualClock()
    const child = new Agent({ model: scriptedModel([{ text: 'so', stall: true }]), clock })
    const ask = tool('ask', (_, ctx) => delegate(ctx, child, 'go'))
    const { agent } = build([{ toolCalls: [{ name: 'ask' }] }], [counts(clock, 50)], { tools: [ask], clock })
    const session = agent.session()
    const run = session.run('hi')
    for (let i = 0; i < 10; i++) await clock.advance(10)
    run.abort()
    for (let i = 0; i < 10; i++) await clock.advance(10)
    await run.catch(() => {})
    expect((session.state as Record<string, unknown>).count).toBe(2)
  })

  it('counts for the turn that asked, also where the sub-agent has given it up', async () => {
    const clock = manualClock()
    const child = new Agent({
      model: scriptedModel([{ text: 'so', stall: true }]),
      clock,
      gracePeriod: 5,
      logger: quiet,
    })
    const ask = tool('ask', (_, ctx) => delegate(ctx, child, 'go'), { timeout: 10 })
    const late = () => delay(200, clock, new AbortController().signal).then(() => 'Done.')
    const steps = [{ toolCalls: [{ name: 'ask' }] }, late]
    const { agent } = build(steps, [counts(clock, 50)], { tools: [ask], clock })
    const run = agent.run('hi')
    for (let i = 0; i < 60; i++) await clock.advance(10)
    expect(((await run).state as Record<string, unknown>).count).toBe(3)
  })
})

const quiet = { warn() {}, error() {} }
