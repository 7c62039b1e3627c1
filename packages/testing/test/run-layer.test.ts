import { capability, defineMiddleware, type Middleware } from '@allium/core'
import { inject } from '@allium/core/context'
import { describe, expect, it } from 'vitest'
import { manualClock, runLayer } from '../src/index.ts'

describe('runLayer', () => {
  it('runs a model hook: what was sent, what left, what was streamed', async () => {
    const polite: Middleware = {
      name: 'polite',
      async model(ctx, next) {
        ctx.addSystemMessage('Be polite.')
        const response = await next()
        response.text += ' Thank you.'
        return response
      },
    }
    const { response, requests, events, result } = await runLayer(polite, { scope: 'model', steps: 'Here it is.' })
    expect(requests[0]?.messages.map(({ content }) => content)).toEqual(['Be polite.', 'hello'])
    expect(response?.text).toBe('Here it is. Thank you.')
    expect(events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('')).toBe(response?.text)
    expect(result?.status).toBe('completed')
  })

  it('runs a tool hook against a tool that takes anything', async () => {
    const lower: Middleware = {
      name: 'lower',
      async tool(ctx, next) {
        ctx.modifyArgs({ to: ctx.args.to.toLowerCase() })
        return next()
      },
    }
    const run = await runLayer(lower, { scope: 'tool', args: { to: 'ADA' }, execute: ({ to }) => `sent to ${to}` })
    expect(run.executed).toEqual([{ to: 'ada' }])
    expect(run.toolResult).toMatchObject({ content: 'sent to ada', status: 'ok' })
  })

  it('runs a turn hook with the state and the history that it begins with', async () => {
    const counter = defineMiddleware({
      name: 'counter',
      state: { seen: { default: 0, reducer: (total, delta: number) => total + delta } },
      async turn(ctx, next) {
        ctx.state.seen = ctx.messages.length
        await next()
      },
    })
    const history = [{ role: 'user' as const, content: 'a' }]
    const { state, history: after } = await runLayer(counter, { scope: 'turn', state: { seen: 40 }, history })
    expect(state).toEqual({ seen: 42 })
    expect(after.map(({ content }) => content)).toEqual(['a', 'hello', 'ok'])
  })

  it('runs an agent hook around what happens inside', async () => {
    const log: string[] = []
    const layer: Middleware = {
      name: 'gate',
      async agent(_, next) {
        log.push('open')
        await next()
        log.push('close')
      },
    }
    await runLayer(layer, { scope: 'agent', inside: () => log.push('inside') })
    expect(log).toEqual(['open', 'inside', 'close'])
  })

  it('keeps the other hooks of the layer out, and `this` in the hook', async () => {
    class Meter {
      name = 'meter'
      calls = 0
      async model(_: unknown, next: () => Promise<never>) {
        this.calls++
        return next()
      }
      async turn(): Promise<never> {
        throw new Error('not this hook')
      }
    }
    const meter = new Meter()
    const { error } = await runLayer(meter, { scope: 'model' })
    expect(error).toBeUndefined()
    expect(meter.calls).toBe(1)
  })

  it('gives what the hook threw instead of rejecting', async () => {
    const thrown = new Error('no')
    const layer: Middleware = {
      name: 'thrower',
      async model() {
        throw thrown
      },
    }
    const { error, result } = await runLayer(layer, { scope: 'model' })
    expect(error).toBe(thrown)
    expect(result).toBeUndefined()
  })

  it('provides capabilities, config and a clock', async () => {
    const Db = capability<{ find(): string }>('db')
    const clock = manualClock(5)
    const layer: Middleware = {
      name: 'reader',
      requires: [Db],
      async turn(ctx) {
        ctx.output = `${ctx.config.tag} ${inject(ctx, Db).find()} ${ctx.startedAt}`
      },
    }
    const provide = [[Db, { find: () => 'row' }]] as const
    const { result } = await runLayer(layer, {
      scope: 'turn',
      config: { tag: 'cfg' },
      provide,
      agentOptions: { clock },
    })
    expect(result?.text).toBe('cfg row 5')
  })
})
