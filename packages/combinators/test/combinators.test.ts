import { Agent, type Middleware, type Usable } from '@allium/core'
import { manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { failure, scopes, turn } from '../../core/test/kit.ts'
import { type Combinable, type Combined, canary, failClosed, failOpen, limitTime, shadow, when } from '../src/index.ts'
import { everywhere, last, life } from './combinators-kit.ts'

type Combine = <M extends Combinable>(layer: M) => Combined<M>
/** Combinators as they let a sound layer run. */
const letting: [string, Combine][] = [
  ['when(true)', (layer) => when(() => true, layer)],
  ['when(async true)', (layer) => when(async () => true, layer)],
  ['limitTime', (layer) => limitTime(layer, 1_000)],
  ['failOpen', failOpen],
  ['failClosed', failClosed],
  ['canary(100)', (layer) => canary(layer, { percent: 100 })],
  [
    'all at once',
    (layer) => when(() => true, failClosed(failOpen(limitTime(canary(layer, { percent: 100 }), 1_000)))) as never,
  ],
]
/** Combinators as they keep a layer out. */
const leaving: [string, Combine][] = [
  ['when(false)', (layer) => when(() => false, layer)],
  ['when(async false)', (layer) => when(async () => false, layer)],
  ['canary(0)', (layer) => canary(layer, { percent: 0 })],
]
const all = [...letting, ...leaving, ['shadow', shadow]] as [string, Combine][]

describe.each(letting)('%s', (_, combine) => {
  it.each([true, false])('runs the layer in every scope, as it would run alone (streaming: %s)', async (streams) => {
    const seen = async (combine: Combine) => {
      const order: string[] = []
      const layer = everywhere((scope) => order.push(scope), {
        async model(ctx, next) {
          ctx.addSystemMessage('Be brief.')
          ctx.onChunk((chunk) => (chunk.type === 'text-delta' ? { ...chunk, delta: chunk.delta.toUpperCase() } : chunk))
          ctx.state.n = 1
          return next()
        },
        state: { n: { default: 0, reducer: (a, b) => a + b } },
      })
      const { agent: _agent, log, ...all } = await life([combine(layer)], { streams })
      return { ...all, log, order }
    }
    const combined = await seen(combine)
    expect(combined).toEqual(await seen((layer) => layer as never))
    expect(combined).toMatchObject({ order: ['agent', 'session', 'turn', 'tool'], state: { n: 2 }, log: [] })
    expect(combined.result?.text).toBe('DONE')
  })
})

describe.each(leaving)('%s', (_, combine) => {
  it('runs no hook, in no scope, and adds nothing', async () => {
    const order: string[] = []
    const { result, error } = await life([combine(everywhere((scope) => order.push(scope)))])
    expect([order, error, result?.text]).toEqual([[], undefined, 'done'])
  })
})

describe.each(all)('%s', (name, combine) => {
  it('keeps the name of the layer and all that it declares', () => {
    const layer: Middleware = {
      name: 'pack:layer',
      state: { 'pack:n': { default: 0 } },
      order: { is: ['meters'], inside: ['retry'] },
      options: { limit: 5 },
      innermost: true,
      reenters: true,
      inherit: true,
      model: (_ctx, next) => next(),
      turn: (_ctx, next) => next(),
    }
    const agent = (layer: Middleware) => new Agent({ model: 'none' }).use(layer)
    expect(agent(combine(Object.freeze(layer))).inspect()).toEqual(agent(layer).inspect())
    expect(combine(layer)).not.toBe(layer)
  })

  it('takes a layer in every form: function, list, class, toMiddleware(), config', async () => {
    const seen: string[] = []
    class Layer {
      readonly name = 'class'
      readonly #word = 'class'
      turn(_: unknown, next: () => Promise<void>) {
        seen.push(this.#word)
        return next()
      }
    }
    const pass = (word: string): Middleware => ({ name: word, turn: (_, next) => last(seen.push(word), next()) })
    const configured: Middleware = { name: 'config', turn: (ctx, next) => last(seen.push(ctx.config), next()) }
    const forms: Usable[] = [
      combine((_: unknown, next: () => Promise<void>) => last(seen.push('function'), next())),
      combine([pass('one'), [pass('two')]]),
      combine(new Layer()),
      combine({ toMiddleware: () => [pass('made')] }),
    ]
    const agent = new Agent({ model: { id: 'm', stream: answer } }).use(forms).use(combine(configured), 'configured')
    await agent.run('hi')
    const ran = ['function', 'one', 'two', 'class', 'made', 'configured']
    expect(seen).toEqual(leaving.some(([left]) => left === name) ? [] : ran)
    expect(agent.inspect().layers.map(({ name }) => name)).toEqual(['turn#0', 'one', 'two', 'class', 'made', 'config'])
  })

  it('refuses what is no layer, and leaves to use() what it refuses', async () => {
    const error = await failure(() => combine(7 as never))
    expect(error).toMatchObject({ code: 'layer.invalid' })
    const nameless = combine({ turn: () => {} } as never)
    expect(await failure(() => new Agent({ model: 'none' }).use(nameless))).toMatchObject({ code: 'layer.invalid' })
  })

  it('lets an error from inside pass as it is', async () => {
    for (const scope of scopes.slice(2)) {
      const down = new Error(`down in ${scope}`)
      const layers = [combine(everywhere(() => {})), { name: 'inner', [scope]: () => Promise.reject(down) }]
      const { error } = await life(layers)
      expect(error, scope).toBe(down)
    }
  })

  it('lets an abort and a block from inside pass as they are', async () => {
    const blocker: Middleware = { name: 'blocker', model: (ctx) => ctx.block('no', { reply: 'Sorry.' }) }
    expect((await life([combine(everywhere(() => {})), blocker])).result).toMatchObject({
      status: 'blocked',
      reason: 'no',
    })
    const aborter: Middleware = { name: 'aborter', tool: (ctx) => ctx.abort('gone') }
    expect((await life([combine(everywhere(() => {})), aborter])).error).toMatchObject({
      name: 'AbortError',
      reason: 'gone',
    })
  })

  it('leaves retries, inside and outside of it, alone', async () => {
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    const meter = everywhere(() => {})
    for (const layers of [
      [retry, combine(meter)],
      [combine(retry), meter],
    ]) {
      const { result, model } = await turn([new Error('down'), 'up'], layers, { clock: manualClock() })
      const kept = name === 'shadow' || leaving.some(([left]) => left === name) ? layers[0] === retry : true
      expect([result?.text, model.calls]).toEqual(kept ? ['up', 2] : [undefined, 1])
    }
  })
})

async function* answer() {
  yield { type: 'finish', reason: 'stop', usage: {} } as const
}
