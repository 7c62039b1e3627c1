import type { Middleware } from '@allium/core'
import { manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { from, type Lifecycle } from '../src/index.ts'
import { build, oneCall, recorder, settled, tool } from './kit.ts'

/** Answers every tool call itself. */
const deny: Middleware = { name: 'deny', tool: (ctx) => ctx.deny('no') }

describe('the hooks of an object', () => {
  it('fire in their order over "model, tool, model"', async () => {
    const log: string[] = []
    await build(oneCall, [from(recorder(log))]).agent.run('hi')
    expect(log).toEqual([
      'setup',
      'onConfig init',
      'onStart',
      'onIteration 0',
      'onConfig beforeModel',
      'onBeforeModel',
      ...['onChunk', 'onChunk', 'onChunk', 'onChunk'],
      'onUsage',
      'onBeforeToolCall',
      'onAfterToolCall',
      'onToolPhaseComplete',
      'onShouldContinue',
      'onIteration 1',
      'onConfig beforeModel',
      'onBeforeModel',
      'onChunk',
      'onUsage',
      'onFinish',
    ])
  })

  it('are all optional', async () => {
    const { result } = await settled(build(['done'], [from({ getName: () => 'nothing' })]).agent.run('hi'))
    expect(result?.text).toBe('done')
  })

  it('are called on the object, with its own fields', async () => {
    class Counter {
      started = 0
      onStart() {
        this.started++
      }
    }
    const counter = new Counter()
    await build(['a'], [from(counter)]).agent.run('hi')
    expect(counter.started).toBe(1)
  })

  it('get one context for the whole run, and another one for the next', async () => {
    const seen = new Set<unknown>()
    const note = (ctx: object) => void seen.add(ctx)
    const { agent } = build([...oneCall, 'again'], [from({ setup: note, onBeforeModel: note, onAfterToolCall: note })])
    const session = agent.session()
    await session.run('hi')
    expect(seen.size).toBe(1)
    await session.run('more')
    expect(seen.size).toBe(2)
  })

  it('fire at the start of each run: setup, onConfig and onStart', async () => {
    const log: string[] = []
    const { setup, onConfig, onStart } = recorder(log)
    const session = build(['a', 'b'], [from({ setup, onConfig, onStart } as Lifecycle)]).agent.session()
    await session.run('one')
    await session.run('two')
    expect(log.filter((line) => line !== 'onConfig beforeModel')).toEqual([
      'setup',
      'onConfig init',
      'onStart',
      'setup',
      'onConfig init',
      'onStart',
    ])
  })

  it('fail the run when they throw', async () => {
    const { error } = await settled(
      build(
        ['never'],
        [
          from({
            onIteration: () => {
              throw new TypeError('broken')
            },
          }),
        ],
      ).agent.run('hi'),
    )
    expect(error).toBeInstanceOf(TypeError)
  })
})

describe('onUsage', () => {
  it('tells what each iteration used, attempts that failed inside it included', async () => {
    const used: number[] = []
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    const cut = { text: 'x', usage: { inputTokens: 7, outputTokens: 1 }, error: new Error('cut') }
    const hooks = from({ onUsage: (_, usage) => void used.push(usage.inputTokens, usage.outputTokens, usage.calls) })
    await build([cut, { text: 'ok', usage: { inputTokens: 5, outputTokens: 2 } }], [hooks, retry]).agent.run('hi')
    expect(used).toEqual([13 + 5, 1 + 2, 2]) // the cut one by its estimate
  })

  it('tells what a call used that was cut', async () => {
    const used: unknown[] = []
    const hooks = from({ onUsage: (_, usage) => void used.push(usage) })
    const { error } = await settled(build([{ text: 'eight ch', cut: true }], [hooks]).agent.run('hi'))
    expect(error).toMatchObject({ code: 'model.truncated' })
    expect(used).toEqual([{ inputTokens: 13, outputTokens: 2, calls: 1, estimated: true }])
  })

  it('says nothing of an iteration that used no tokens', async () => {
    const used: unknown[] = []
    const cache: Middleware = { name: 'cache', model: (ctx) => ctx.skipCall('kept') }
    await build([], [from({ onUsage: (_, usage) => void used.push(usage) }), cache]).agent.run('hi')
    expect(used).toEqual([])
  })
})

describe('onShouldContinue', () => {
  it('ends the loop by false, with the results of the tools in the history', async () => {
    const { agent, model } = build(
      [...oneCall, 'never'],
      [from({ getName: () => 'limit', onShouldContinue: () => false })],
    )
    const { status, reason, toolCalls } = await agent.run('hi')
    expect([status, reason, toolCalls.length, model.calls]).toEqual(['stopped', '"limit" does not continue', 1, 1])
  })

  it('asks every object, whatever the first one said', async () => {
    const asked: string[] = []
    const ask = (name: string, goesOn: boolean): Lifecycle => ({
      onShouldContinue: () => {
        asked.push(name)
        return goesOn
      },
    })
    await build([...oneCall, 'never'], [from([ask('a', false), ask('b', true)])]).agent.run('hi')
    expect(asked).toEqual(['a', 'b'])
  })

  it('is not asked after an answer without tools', async () => {
    let asked = 0
    await build(['done'], [from({ onShouldContinue: () => void asked++ })]).agent.run('hi')
    expect(asked).toBe(0)
  })

  it('ends the loop without another model call where a layer outside answered the tools', async () => {
    const { agent, model } = build([...oneCall, 'never'], [deny, from({ onShouldContinue: () => false })])
    const { status } = await agent.run('hi')
    expect([status, model.calls]).toEqual(['stopped', 1])
  })
})

describe('onToolPhaseComplete', () => {
  it('comes once, after the slowest of parallel calls, with the calls in their order', async () => {
    const clock = manualClock()
    const phases: string[][] = []
    const slow = tool('slow', async () => {
      await new Promise<void>((resolve) => void clock.after(10, resolve))
      return 'slow'
    })
    const { agent } = build(
      [{ toolCalls: [{ name: 'slow' }, { name: 'work' }] }, 'done'],
      [
        from({
          onToolPhaseComplete: (_, { calls }) => void phases.push(calls.map(({ result }) => String(result.content))),
        }),
      ],
      { tools: [slow, tool('work')], clock },
    )
    const run = agent.run('hi')
    await clock.advance(10)
    await run
    expect(phases).toEqual([['slow', 'worked']])
  })

  it('comes too where the loop was stopped, or a layer outside answered a call', async () => {
    const phases: number[] = []
    const hooks = from({ onToolPhaseComplete: (_, { iteration }) => void phases.push(iteration) })
    await build(oneCall, [deny, hooks], { maxSteps: 1 }).agent.run('hi')
    expect(phases).toEqual([0])
  })
})
