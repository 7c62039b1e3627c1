// Compiled, never run: what wrappers of runs and steps get, and the mistakes that must not compile.
import { aroundRun, aroundStep, provideTurns } from '../src/context.ts'
import {
  type AroundRun,
  type AroundStep,
  defineMiddleware,
  type StoredTurn,
  type WrappedRun,
  type WrappedStep,
} from '../src/index.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** Compiles only where the two types are the same. */
declare function same<A, B>(..._: Equal<A, B> extends true ? [] : [error: 'the types differ', A, B]): void

defineMiddleware({
  name: 'wraps',
  order: { is: ['sessionStorage'] },
  session(ctx, next) {
    aroundRun(ctx, async (run, next) => {
      same<WrappedRun, typeof run>()
      same<'run' | 'rewind' | 'close', typeof run.kind>()
      same<string, typeof run.turnId>()
      same<AbortSignal, typeof run.signal>()
      const turn = await next()
      same<StoredTurn, typeof turn>()
      return turn
    })
    aroundStep(ctx, async (step, next) => {
      same<WrappedStep['turn'], typeof step.turn>()
      same<boolean, typeof step.resumed>()
      same<void, Awaited<ReturnType<typeof next>>>()
      await next()
    })
    provideTurns(ctx, (turnId) => {
      same<string, typeof turnId>()
      return undefined
    })
    // @ts-expect-error a wrapper of a run returns its turn
    aroundRun(ctx, async (_, next) => {
      await next()
    })
    // @ts-expect-error next() takes no turn
    aroundRun(ctx, (run, next) => next(run))
    // @ts-expect-error a run is no turn
    aroundRun(ctx, (run) => Object.assign(run, { kind: 'close' }))
    // @ts-expect-error a step has no lease
    aroundStep(ctx, (step, next) => next().then(() => step.lease))
    // @ts-expect-error a stored turn has a status, and more
    provideTurns(ctx, () => ({ turnId: 'x' }))
    // @ts-expect-error it is no object with begin() and end()
    aroundRun(ctx, { begin() {} })
    return next()
  },
})

export const plain: AroundRun = (_, next) => next()
export const step: AroundStep = (_, next) => next()
