import type { Middleware, NextFor, ScopeName, TurnContext } from '@allium/core'
import { onDisplay, record } from '@allium/core/context'
import { manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { build, failure, gate, oneCall, rest, scopes, settled, tool } from '../../core/test/kit.ts'
import { failClosed, failOpen, limitTime } from '../src/index.ts'
import { last } from './combinators-kit.ts'

const never = new Promise<never>(() => {})
const slow = (scope: ScopeName, when: 'before' | 'after'): Middleware => ({
  name: 'slow',
  async [scope](_: unknown, next: NextFor<unknown>) {
    if (when === 'before') return never
    await next()
    return never
  },
})

/** A life whose clock is moved on until all has settled. */
async function late(layers: Middleware[], by = 100) {
  const clock = manualClock()
  const { agent } = build(oneCall, layers, { tools: [tool('work')], clock })
  const session = agent.session()
  const run = session.run('hi')
  const ran = settled(run)
  for (let i = 0; i < 4; i++) await clock.advance(by)
  const { result, error } = await ran
  const closing = settled(session.close().then(() => agent.dispose()) as never)
  for (let i = 0; i < 2; i++) await clock.advance(by)
  return { result, error: error ?? (await closing).error, clock }
}

describe('limitTime', () => {
  it.each(scopes.flatMap((scope) => (['before', 'after'] as const).map((when) => [scope, when] as const)))(
    'ends the %s hook that hangs %s next(), and names it',
    async (scope, when) => {
      const { error, clock } = await late([limitTime(slow(scope, when), 100)])
      expect(error).toMatchObject({ code: 'layer.timeout', details: { layer: 'slow', scope, ms: 100 } })
      expect(error?.message).toContain(`Layer "slow" (${scope}) took more than 100 ms`)
      expect(clock.pending).toBe(0)
    },
  )

  it('does not count what is inside', async () => {
    const clock = manualClock()
    const wait: Middleware = {
      name: 'wait',
      async model(ctx, next) {
        await new Promise<void>((resolve) => void ctx.clock.after(10_000, resolve))
        return next()
      },
    }
    const { agent } = build(
      ['done'],
      [limitTime({ name: 'outer', turn: (_, next) => next(), model: (_, next) => next() }, 50), wait],
      { clock },
    )
    const run = settled(agent.run('hi'))
    await clock.advance(10_000)
    expect((await run).result?.text).toBe('done')
    expect(clock.pending).toBe(0)
  })

  it('adds up the time before next() and after it', async () => {
    const clock = manualClock()
    const both: Middleware = {
      name: 'both',
      async turn(ctx, next) {
        const wait = () => new Promise<void>((resolve) => void ctx.clock.after(60, resolve))
        await wait()
        await next()
        await wait()
      },
    }
    const ended = async (ms: number) => {
      const { agent } = build(['done'], [limitTime(both, ms)], { clock })
      const run = settled(agent.run('hi'))
      await clock.advance(60)
      await clock.advance(60)
      return (await run).error?.code
    }
    expect([await ended(100), await ended(121)]).toEqual(['layer.timeout', undefined])
  })

  it('aborts the signal of the layer, and that alone', async () => {
    const signals: Record<string, AbortSignal> = {}
    const keep = (name: string): Middleware => ({
      name,
      async turn(ctx, next) {
        signals[name] = ctx.signal
        if (name === 'slow') await never
        await next()
      },
    })
    await late([keep('outer'), failOpen(limitTime(keep('slow'), 100)), keep('inner')])
    const aborted = Object.entries(signals).map(([name, { aborted }]) => [name, aborted])
    expect(aborted).toEqual(
      [
        ['outer', true],
        ['slow', true],
        ['inner', false],
      ].map(([name, is]) => [name, name === 'outer' ? false : is]),
    )
    expect(signals.slow?.reason).toMatchObject({ code: 'layer.timeout' })
  })

  it('aborts the signal of the layer with the run', async () => {
    let signal: AbortSignal | undefined
    const { agent } = build(
      [{ stall: true }],
      [limitTime({ name: 'l', turn: (ctx, next) => last((signal = ctx.signal), next()) }, 100)],
    )
    const run = agent.run('hi')
    await rest()
    run.abort('gone')
    await settled(run)
    expect(signal?.aborted).toBe(true)
  })

  it('takes the context away from a layer that is late: nothing it still does has an effect', async () => {
    const wakes = gate()
    const attempts: string[] = []
    const tries = async (ctx: TurnContext, next: NextFor<void>) => {
      const { state, history, metadata } = ctx
      await wakes.promise
      const verbs: Record<string, () => unknown> = {
        block: () => ctx.block('late'),
        abort: () => ctx.abort('late'),
        stop: () => ctx.stop('late'),
        record: () => record(ctx, 'late', {}),
        onDisplay: () => onDisplay(ctx, () => ({ push: () => 'late', end: () => '' })),
        emit: () => ctx.emit({ type: 'late:event' }),
        state: () => (state['late:n'] = 1),
        metadata: () => (metadata.late = 1),
        history: () => history.push({ role: 'user', content: 'late' }),
        output: () => (ctx.output = 'late'),
        next: () => next(),
      }
      for (const [verb, act] of Object.entries(verbs))
        if ((await failure(act)).code === 'layer.timeout') attempts.push(verb)
      throw new Error('late too')
    }
    const clock = manualClock()
    const { agent } = build(
      [async () => last(wakes.open(), await rest(), 'done')],
      [failOpen(limitTime({ name: 'late', turn: tries as never }, 100))],
      { clock },
    )
    const session = agent.session()
    const run = session.run('hi')
    await clock.advance(100)
    const result = await run
    expect(result).toMatchObject({ status: 'completed', text: 'done', state: {} })
    expect(attempts).toEqual([
      'block',
      'abort',
      'stop',
      'record',
      'onDisplay',
      'emit',
      'state',
      'metadata',
      'history',
      'output',
      'next',
    ])
    expect(session.history).toHaveLength(2)
  })

  it('goes on without a slow helper, and refuses with a slow guard', async () => {
    expect((await late([failOpen(limitTime(slow('model', 'before'), 100))])).result?.text).toBe('done')
    const { result } = await late([failClosed(limitTime(slow('tool', 'before'), 100))])
    expect(result?.toolCalls).toMatchObject([{ result: { status: 'denied' } }])
  })

  it.each([0, -1, Number.NaN, '5'])('refuses %s milliseconds', async (ms) => {
    expect(await failure(() => limitTime([], ms as number))).toMatchObject({ code: 'layer.config' })
  })
})
