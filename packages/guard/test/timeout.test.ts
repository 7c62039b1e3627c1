import { Agent, delegate, type Middleware, type Model, type ToolExecution } from '@allium/core'
import { type ManualClock, manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { output, type TimeoutOptions, timeout } from '../src/index.ts'
import { calling, tool } from './scene.ts'

const silent = { warn() {}, error() {} }
const never = () => new Promise(() => {})

describe('guard.timeout', () => {
  it('fails a model call that takes too long, and closes the provider', async () => {
    const clock = manualClock()
    const model = scriptedModel([{ chunks: ['Half'], stall: true }])
    const run = new Agent({ model, clock }).use(timeout({ model: 1000 })).run('go')
    await clock.advance(999)
    expect(model.closed).toBe(0)
    await clock.advance(1)
    await expect(run).rejects.toMatchObject({
      code: 'model.timeout',
      message: 'The model call took longer than 1000 ms ("guard:timeout").',
    })
    expect(model.closed).toBe(1)
  })

  it('gives a layer outside of it another try: a fallback goes on', async () => {
    const clock = manualClock()
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    const run = new Agent({ model: scriptedModel([{ stall: true }, 'Second.']), clock })
      .use(retry)
      .use(timeout({ model: 1000 }))
      .run('go')
    await clock.advance(1000)
    expect((await run).text).toBe('Second.')
  })

  it('fails a turn, and keeps what there was', async () => {
    const clock = manualClock()
    const run = new Agent({ model: scriptedModel([{ chunks: ['Half'], stall: true }]), clock })
      .use(timeout({ turn: 5000 }))
      .run('go')
    await clock.advance(5000)
    await expect(run).rejects.toMatchObject({ code: 'turn.timeout', partial: { text: 'Half' } })
  })

  it('tells the model of a tool call that takes too long, and aborts its signal', async () => {
    const clock = manualClock()
    let signal: AbortSignal | undefined
    const slow = {
      ...tool('slow'),
      execute(_: object, ctx: { signal: AbortSignal }) {
        signal = ctx.signal
        return never()
      },
    }
    const model = scriptedModel([calling(['slow']), 'Went on.'])
    const run = new Agent({ model, tools: [slow as never], clock, logger: silent })
      .use(timeout({ tool: 100 }))
      .run('go')
    await clock.advance(100)
    const { text, toolCalls } = await run
    expect([text, signal?.aborted]).toEqual(['Went on.', true])
    const content = 'The tool "slow" took longer than 100 ms.'
    expect(toolCalls[0]?.result).toMatchObject({ content, isError: true, error: { code: 'tool.timeout' } })
  })

  /** Sends its chunks with waits between them. */
  function pausing(clock: ManualClock, ...waits: number[]): Model {
    return {
      id: 'pausing',
      async *stream() {
        for (const [i, ms] of waits.entries()) {
          await new Promise<void>((resolve) => clock.after(ms, resolve))
          yield { type: 'text-delta', delta: String(i) }
        }
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1, calls: 1 } }
      },
    }
  }

  it('lets a model take its time as long as it goes on sending', async () => {
    const clock = manualClock()
    const run = new Agent({ model: pausing(clock, 90, 90, 90), clock }).use(timeout({ chunk: 100 })).run('go')
    await clock.advance(270)
    expect([(await run).text, clock.pending]).toEqual(['012', 0])
  })

  it.each([
    ['before its first chunk', [101], ''],
    ['between two', [10, 101], '0'],
  ])('fails a model that is silent %s, and keeps what it said', async (_, waits, text) => {
    const clock = manualClock()
    const run = new Agent({ model: pausing(clock, ...waits), clock })
      .use(timeout({ chunk: 100, model: 5000 }))
      .run('go')
    await clock.advance(110)
    const message = 'The model sent nothing for 100 ms ("guard:timeout").'
    await expect(run).rejects.toMatchObject({ code: 'model.timeout', message, partial: { text } })
    await clock.advance(1000)
    expect(clock.pending).toBe(0)
  })

  it('gives a model another time for its first chunk', async () => {
    const ends = async (waits: number[], options: TimeoutOptions) => {
      const clock = manualClock()
      const run = new Agent({ model: pausing(clock, ...waits), clock }).use(timeout(options)).run('go')
      const ended = run.then(({ text }) => text).catch(({ message }) => message)
      for (let i = 0; i < 20; i++) await clock.advance(50)
      return ended
    }
    expect(await ends([500, 90], { firstChunk: 600, chunk: 100 })).toBe('01')
    expect(await ends([90, 500], { firstChunk: 600, chunk: 100 })).toContain('nothing for 100 ms')
    expect(await ends([90, 500], { firstChunk: 100 })).toBe('01')
    expect(await ends([500], { firstChunk: 100 })).toContain('nothing for 100 ms')
  })

  it('does not take a slow reader for a silent model', async () => {
    const clock = manualClock()
    const model = scriptedModel([{ chunks: ['a', 'b', 'c', 'd'] }])
    let text = ''
    for await (const piece of new Agent({ model, clock }).use(timeout({ chunk: 100 })).run('go').textStream) {
      text += piece
      await clock.advance(1000)
    }
    expect([text, clock.pending]).toEqual(['abcd', 0])
  })

  it('gives each attempt of a retry outside of it its own silence', async () => {
    const clock = manualClock()
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    const model = scriptedModel([{ chunks: ['Half'], stall: true }, 'Whole.'])
    const run = new Agent({ model, clock })
      .use(retry)
      .use(timeout({ chunk: 100 }))
      .run('go')
    await clock.advance(100)
    expect([(await run).text, clock.pending]).toEqual(['Whole.', 0])
  })

  it('asks to stand inside of what waits or keeps answers back, where it listens to chunks', () => {
    const retry: Middleware = { name: 'retry', order: { is: ['retries'] }, model: (_, next) => next() }
    const found = (options: TimeoutOptions) => {
      const agent = new Agent({ model: scriptedModel([]) }).use(timeout(options)).use(output(() => true))
      return agent.use(retry).check()
    }
    expect(found({ turn: 1000, chunk: 100 }).map(({ layers }) => layers)).toEqual([
      ['guard:output', 'guard:timeout'],
      ['retry', 'guard:timeout'],
    ])
    expect(found({ turn: 1000, model: 100 })).toEqual([])
  })

  it('leaves no timer where all is in time, and passes errors on as they are', async () => {
    const clock = manualClock()
    const down = new Error('down')
    const agent = new Agent({ model: scriptedModel(['fine', down]), clock }).use(timeout({ turn: 1000, model: 500 }))
    expect((await agent.run('go')).text).toBe('fine')
    await expect(agent.run('go')).rejects.toBe(down)
    expect(clock.pending).toBe(0)
  })

  it.each([[{}], [{ turn: 0 }], [{ model: Number.NaN }], [{ chunk: 0 }]])('refuses %j', (options) => {
    expect(() => timeout(options)).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})

describe('guard.timeout around a sub-agent', () => {
  async function chief(options: Parameters<typeof timeout>[0]) {
    const clock = manualClock()
    const child = new Agent({ name: 'child', model: scriptedModel([{ stall: true }]), clock, logger: silent })
    const ask = {
      ...tool('ask'),
      timeout: 1e9,
      execute: async (_: never, ctx: ToolExecution) =>
        (await delegate(ctx, child, 'go').catch((error) => ({ text: error.code })))?.text,
    }
    const model = scriptedModel([{ toolCalls: [{ name: 'ask' }] }, 'done'])
    const agent = new Agent({ model, tools: [ask], clock, toolTimeout: 1e9 }).use(timeout(options))
    const run = agent.run('go')
    let ended = false
    void run.settled().then(() => (ended = true))
    await clock.advance(60_000)
    return { run, ended: () => ended }
  }

  it('gives its model calls the time of `model`, so that it does not stall', async () => {
    const { run } = await chief({ model: 50_000 })
    expect((await run).toolCalls[0]?.result.content).toBe('model.timeout')
  })

  it('takes no silence of its for one of the model', async () => {
    const { run, ended } = await chief({ chunk: 50_000 })
    expect(ended()).toBe(false)
    run.abort()
  })
})
