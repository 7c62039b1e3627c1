import { describe, expect, it } from 'vitest'
import { manualClock, scriptedModel } from '../../testing/src/index.ts'
import { Agent, type AgentEvents, delay, type Middleware, type Model } from '../src/index.ts'
import { settled } from './kit.ts'

/** Streams a word, then hears nothing. */
const deaf: Model = {
  id: 'deaf',
  async *stream() {
    yield { type: 'text-delta', delta: 'never' }
    await new Promise(() => {})
  },
}

/** Leaves what is inside after so many milliseconds, then does what it says. */
const leaves = (ms: number, then: (next: () => Promise<never>) => unknown): Middleware => ({
  name: 'leaves',
  async model(ctx, next) {
    const late = new AbortController()
    const stop = ctx.clock.after(ms, () => late.abort(new Error('too slow')))
    try {
      return await next({ signal: late.signal })
    } catch {
      return then(next as () => Promise<never>) as never
    } finally {
      stop()
    }
  },
})

async function run(agent: Agent, clock: ReturnType<typeof manualClock>, ms = 200) {
  const lates: AgentEvents['layer:late'][] = []
  agent.on('layer:late', (event) => lates.push(event))
  const session = agent.session()
  const ended = settled(session.run('hi'))
  for (let passed = 0; passed < ms; passed += 10) await clock.advance(10)
  return { ...(await ended), session, lates: lates.map(({ layer, verb }) => `${layer} ${verb}`) }
}

describe('an attempt that was left', () => {
  it('neither blocks nor stops the run, nor changes the call that follows; each try is told once', async () => {
    const clock = manualClock()
    const model = scriptedModel(['Done.'])
    const codes: unknown[] = []
    const late: Middleware = {
      name: 'late',
      async model(ctx, next) {
        if (ctx.attempt > 1) return next()
        await delay(60, clock, new AbortController().signal)
        ctx.setModel(deaf)
        ctx.stop('late')
        for (const _ of [1, 2])
          try {
            ctx.block('late')
          } catch (error) {
            codes.push((error as { code?: string }).code)
          }
        return next()
      },
    }
    const agent = new Agent({ model, clock }).use(leaves(50, (next) => next())).use(late)
    const { result, lates } = await run(agent, clock)
    expect([result?.status, result?.text, model.calls]).toEqual(['completed', 'Done.', 1])
    expect(codes).toEqual(['layer.abandoned', 'layer.abandoned'])
    expect(lates).toEqual(['late model', 'late stop', 'late block', 'late next'])
  })

  it('still writes state through a reducer, and tells what it tries while the turn runs', async () => {
    const clock = manualClock()
    const meter: Middleware = {
      name: 'meter',
      state: { 'meter:n': { default: 0, reducer: (a: number, b: number) => a + b }, 'meter:last': { default: '' } },
      async model(ctx, next) {
        if (ctx.attempt > 1) return next()
        await delay(60, clock, new AbortController().signal)
        ctx.state['meter:n'] = 1
        ctx.state['meter:last'] = 'late'
        ctx.stop('late')
        return next()
      },
    }
    const slow: Middleware = {
      name: 'slow',
      async model(ctx, next) {
        if (ctx.attempt > 1) await delay(40, clock, ctx.signal)
        return next()
      },
    }
    const agent = new Agent({ model: scriptedModel(['Done.']), clock })
      .use(leaves(50, (next) => next()))
      .use(slow)
      .use(meter)
    const { result, lates } = await run(agent, clock)
    expect([result?.status, result?.state]).toEqual(['completed', { 'meter:n': 1, 'meter:last': '' }])
    expect(lates).toEqual(['meter state', 'meter stop', 'meter next'])
  })

  it('opens no model that its resolver finds too late', async () => {
    const clock = manualClock()
    const late = scriptedModel(['ghost'])
    const agent = new Agent({
      model: 'late/model',
      clock,
      resolveModel: async (ref) => {
        if (ref === 'quick/model') return scriptedModel(['Done.'])
        await delay(60, clock, new AbortController().signal)
        return late
      },
    }).use({
      name: 'fallback',
      async model(ctx, next) {
        const signal = new AbortController()
        ctx.clock.after(50, () => signal.abort(new Error('too slow')))
        return next({ signal: signal.signal }).catch(() => {
          ctx.setModel('quick/model')
          return next()
        })
      },
    })
    const { result } = await run(agent, clock)
    expect([result?.text, late.calls, result?.usage.calls]).toEqual(['Done.', 0, 1])
  })

  it('lets its layers ask for no transform, and says nothing of a stream that flows', async () => {
    const clock = manualClock()
    const errors: unknown[] = []
    const agent = new Agent({ model: scriptedModel(['Done.']), clock }).use(leaves(50, (next) => next())).use({
      name: 'late',
      async model(ctx, next) {
        if (ctx.attempt === 1) await delay(60, clock, new AbortController().signal)
        try {
          ctx.onChunk(() => undefined)
        } catch (error) {
          errors.push(error)
        }
        return next()
      },
    })
    const { result } = await run(agent, clock)
    expect([result?.text, errors]).toEqual(['Done.', []])
  })
})

describe('a run that ends', () => {
  it('settles without a layer that does not come back, and names it', async () => {
    const clock = manualClock()
    const warned: string[] = []
    const ended: string[] = []
    const logger = { warn: (message: string) => void warned.push(message), error() {} }
    const hangs = { name: 'hangs', process: () => new Promise<never>(() => {}) }
    const agent = new Agent({ model: scriptedModel(['Done.']), clock, logger, gracePeriod: 100 })
      .use({ name: 'around', turn: (_, next) => next().finally(() => void ended.push('around')) })
      .use('model', hangs)
    const session = agent.session()
    const running = session.run('hi')
    const ending = settled(running)
    await clock.advance(10)
    running.abort('enough')
    for (let i = 0; i < 30; i++) await clock.advance(10)
    expect((await ending).error?.name).toBe('AbortError')
    expect([ended, warned.length]).toEqual([['around'], 1])
    expect(warned[0]).toContain('"hangs" (model), still running after 100 ms')
  })
})
