// Compiled, never run: what wrappers of runs and steps get, and the mistakes that must not compile.
import { type AroundRun, type AroundStep, defineMiddleware, type StoredTurn, type WrappedRun } from '../src/index.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** Compiles only where the two types are the same. */
declare function same<A, B>(..._: Equal<A, B> extends true ? [] : [error: 'the types differ', A, B]): void

defineMiddleware({
  name: 'wraps',
  order: { is: ['sessionStorage'] },
  session(ctx, next) {
    ctx.aroundRun(async (run, next) => {
      same<WrappedRun, typeof run>()
      same<'run' | 'rewind' | 'close', typeof run.kind>()
      same<string, typeof run.turnId>()
      same<AbortSignal, typeof run.signal>()
      const turn = await next()
      same<StoredTurn, typeof turn>()
      return turn
    })
    ctx.aroundStep(async (step, next) => {
      same<StoredTurn, typeof step.turn>()
      same<boolean, typeof step.resumed>()
      same<void, Awaited<ReturnType<typeof next>>>()
      await next()
    })
    ctx.provideTurns((turnId) => {
      same<string, typeof turnId>()
      return undefined
    })
    // @ts-expect-error a wrapper of a run returns its turn
    ctx.aroundRun(async (_, next) => {
      await next()
    })
    // @ts-expect-error next() takes no turn
    ctx.aroundRun((run, next) => next(run))
    // @ts-expect-error a run is no turn
    ctx.aroundRun((run) => Object.assign(run, { kind: 'close' }))
    // @ts-expect-error a step has no lease
    ctx.aroundStep((step, next) => next().then(() => step.lease))
    // @ts-expect-error a stored turn has a status, and more
    ctx.provideTurns(() => ({ turnId: 'x' }))
    // @ts-expect-error it is no object with begin() and end()
    ctx.aroundRun({ begin() {} })
    return next()
  },
})

export const plain: AroundRun = (_, next) => next()
export const step: AroundStep = (_, next) => next()
