import { Agent, type Middleware } from '@allium/core'
import { manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { timeout } from '../src/index.ts'
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

  it('leaves no timer where all is in time, and passes errors on as they are', async () => {
    const clock = manualClock()
    const down = new Error('down')
    const agent = new Agent({ model: scriptedModel(['fine', down]), clock }).use(timeout({ turn: 1000, model: 500 }))
    expect((await agent.run('go')).text).toBe('fine')
    await expect(agent.run('go')).rejects.toBe(down)
    expect(clock.pending).toBe(0)
  })

  it.each([[{}], [{ turn: 0 }], [{ model: Number.NaN }]])('refuses %j', (options) => {
    expect(() => timeout(options)).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})
