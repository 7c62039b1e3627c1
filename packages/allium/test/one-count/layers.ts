import type { Middleware, Model, Usable } from '@allium/core'
import type { CaseClock } from '../../../core/test/explore/clock.ts'
import * as guard from '../../src/guard.ts'
import * as model from '../../src/model.ts'
import * as observe from '../../src/observe.ts'
import type { LayerKind } from './plan.ts'

/** The layers of a plan. */
export function layersOf(kinds: readonly LayerKind[], clock: CaseClock, other: Model): Usable[] {
  const make: Record<LayerKind, () => Usable> = {
    fallback: () => model.fallback({ models: [other] }),
    retry: () => model.retry({ attempts: 2, delay: 10, random: () => 0 }),
    timeout: () => guard.timeout({ model: 25 }),
    silence: () => guard.timeout({ chunk: 15, as: 'silence' }),
    output: () => guard.output({ check: (text) => !text.includes('three') }),
    onion: () => observe.onion(),
    log: () => observe.log({ logger: { info() {}, warn() {}, error() {} } as never }),
    hold: () => ({
      name: 'hold',
      async model(ctx, next) {
        ctx.hold()
        return next()
      },
    }),
    pipe: () => ({
      name: 'pipe',
      model(ctx, next) {
        ctx.pipe(async function* (chunks) {
          for await (const chunk of chunks) yield chunk
        })
        return next()
      },
    }),
    slow: () => ({
      name: 'slow',
      async model(ctx, next) {
        await clock.wait(5, ctx.signal)
        try {
          return await next()
        } finally {
          await clock.wait(5)
        }
      },
    }),
    'walks out': () => walksOut(clock),
    blocks: () => ({
      name: 'blocks',
      async model(ctx, next) {
        const response = await next()
        return response.text.endsWith('x') ? ctx.block('no x') : response
      },
    }),
    answers: () => ({ name: 'answers', model: (_, next) => next().catch(() => 'Sorry.') }),
  }
  return kinds.map((kind) => make[kind]())
}

/** Throws while its call runs. */
function walksOut(clock: CaseClock): Middleware {
  return {
    name: 'walks-out',
    async model(_, next) {
      const answer = next()
      answer.catch(() => {})
      const late = clock.wait(35).then(() => {
        throw Object.assign(new Error('walked out'), { status: 503 })
      })
      late.catch(() => {})
      return Promise.race([answer, late]) as typeof answer
    },
  }
}
