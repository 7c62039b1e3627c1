import { type AgentEvents, isAlliumError, type Middleware, type NextFor } from '@allium/core'
import { manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { build, gate, rest, settled } from '../../core/test/kit.ts'
import { failOpen, limitTime, type ShadowDecision, shadow } from '../src/index.ts'
import { type Loose, type LooseHook, last } from './combinators-kit.ts'

/** Leaves what is inside when `late` aborts, and asks another model. */
const fallback = (late: AbortSignal): Middleware => ({
  name: 'fallback',
  async model(ctx, next) {
    try {
      return await next({ signal: late })
    } catch {
      ctx.setModel(scriptedModel(['from the fallback']))
      return next()
    }
  },
})
const model = (run: LooseHook): Middleware => ({ name: 'new', model: run as never })

/** A run whose model stalls until the fallback leaves it; what was said of it. */
async function leave(layer: Middleware) {
  const late = new AbortController()
  const clock = manualClock()
  const { agent, model } = build([{ stall: true }], [fallback(late.signal), layer], { clock })
  const told: string[] = []
  agent.on('layer:late', ({ layer, verb }: AgentEvents['layer:late']) => told.push(`${layer} ${verb}`))
  const session = agent.session()
  const run = settled(session.run('hi'))
  await rest()
  late.abort(new Error('too slow'))
  const { result, error } = await run
  return { text: result?.text, error, state: result?.state, session, told, asked: model.requests.length, clock }
}

describe('a shadow', () => {
  it('changes nothing and is not told when its layer acts after it was left', async () => {
    const tries: string[] = []
    const attempt = (what: string, act: () => unknown) => {
      try {
        act()
        tries.push(what)
      } catch (error) {
        tries.push(`${what}: ${isAlliumError(error) ? error.code : (error as Error).name}`)
      }
    }
    const acts = model(async (ctx, next) => {
      if (ctx.attempt > 1) return next()
      await next().catch(() => {})
      attempt('messages', () => ctx.messages.push({ role: 'user', content: 'late' }))
      attempt('skipCall', () => ctx.skipCall('late'))
      attempt('state', () => (ctx.state.late = 1))
      attempt('history', () => ctx.history.push({ role: 'user', content: 'late' }))
      attempt('stop', () => ctx.stop('late'))
      attempt('block', () => ctx.block('late'))
    })
    const { text, state, session, told } = await leave(shadow(acts))
    await rest()
    expect([text, state, session.history.length, told]).toEqual(['from the fallback', {}, 2, []])
    expect(tries).toEqual(['messages', 'skipCall', 'state', 'history', 'stop', 'block: BlockError'])
  })

  it('around a layer that hangs leaves a fallback outside to go on, at once', async () => {
    const hangs = model(async (_, next) => last(await next().catch(() => {}), await new Promise(() => {})))
    const { text, asked, clock } = await leave(shadow(hangs))
    expect([text, asked, clock.pending]).toEqual(['from the fallback', 1, 0])
  })

  it('keeps in what it does not know: a verb that contexts get later is noted and does nothing', async () => {
    let launched = 0
    const prototypes: Loose[] = []
    const adds = model((ctx, next) => {
      prototypes.push(Object.getPrototypeOf(ctx))
      prototypes[0].launch = () => launched++
      return last(ctx.launch(), next())
    })
    const recorded: ShadowDecision[] = []
    const launches = shadow(
      { ...model((ctx, next) => last(ctx.launch(), next())), name: 'beside' },
      { onDecision: (one) => recorded.push(one) },
    )
    await build(['done'], [adds, launches]).agent.run('hi')
    await rest()
    delete prototypes[0].launch
    expect([launched, recorded.map(({ changes }) => changes)]).toEqual([1, [['launch']]])
  })

  it('holds the rules of next(), and narrows it', async () => {
    const recorded: ShadowDecision[] = []
    const record = (one: ShadowDecision) => void recorded.push(one)
    const twice = model(async (_, next) => last(await next(), await next()))
    const aborted = model((_, next) => next({ signal: AbortSignal.abort(new Error('gone')) }))
    const { agent } = build(
      ['done'],
      [shadow(twice, { onDecision: record }), shadow({ ...aborted, name: 'b' }, { onDecision: record })],
    )
    await agent.run('hi')
    await rest()
    const said = recorded.map(({ decision, error }) => [decision, (error as Loose).code ?? (error as Error).message])
    expect(said.sort()).toEqual([
      ['throw', 'gone'],
      ['throw', 'layer.next_twice'],
    ])
  })

  it('lets the layer of a failOpen inside begin anew, without what it had changed', async () => {
    const recorded: ShadowDecision[] = []
    const breaks = failOpen(
      model((ctx) => last(ctx.addSystemMessage('x'), ctx.skipCall('y'), Promise.reject(new Error('bug')))),
    )
    const { agent } = build(['done'], [shadow(breaks, { onDecision: (one) => recorded.push(one) })])
    await agent.run('hi')
    await rest()
    expect(recorded).toMatchObject([{ decision: 'pass', changes: [] }])
  })
})

describe('failOpen', () => {
  it.each<[string, (ctx: Loose, next: NextFor<Loose>, wake: Promise<void>) => unknown]>([
    ['after its next()', async (_, next) => last(await next().catch(() => {}), Promise.reject(new Error('broken')))],
    ['before its next()', async (_, __, wake) => last(await wake, Promise.reject(new Error('broken')))],
  ])('does not go on inside where a layer that was left throws %s', async (_, run) => {
    const wake = gate()
    const late = new AbortController()
    late.signal.addEventListener('abort', () => wake.open())
    const layer = failOpen(model((ctx, next) => run(ctx, next as never, wake.promise)))
    const { agent, model: asked } = build([{ stall: true }, 'never'], [fallback(late.signal), layer])
    const running = settled(agent.run('hi'))
    await rest()
    late.abort(new Error('too slow'))
    const { result } = await running
    expect(result?.text).toBe('from the fallback')
    expect(asked.requests.length).toBeLessThanOrEqual(1)
  })
})

describe('limitTime', () => {
  it('counts nothing while a call inside hangs, and is over with the run', async () => {
    const clock = manualClock()
    const patient = limitTime({ name: 'patient', turn: (_, next) => next(), model: (_, next) => next() }, 50)
    const { agent } = build([{ stall: true }], [patient], { clock })
    const run = agent.run('hi')
    const ended = settled(run)
    await clock.advance(60_000)
    run.abort('enough')
    expect((await ended).error).toMatchObject({ name: 'AbortError', reason: 'enough' })
    expect(clock.pending).toBe(0)
  })

  it('ends a layer that is left before its time without a timer', async () => {
    const { text, clock } = await leave(
      limitTime(
        model((_, next) => next()),
        50,
      ),
    )
    expect([text, clock.pending]).toEqual(['from the fallback', 0])
  })
})
