import { AlliumError, messageOf, type ScopeName } from '@allium/core'
import { endsRun } from './attempt.ts'
import { type AnyContext, type AnyHook, type Combinable, type Combined, combine, type WrappedHook } from './combine.ts'
import { isThenable } from './thenable.ts'

/**
 * Whether the layer takes part. It is asked at each entry, in every scope that the layer hooks: agent hooks have no
 * principal, session hooks no input, and only tool hooks a `tool`.
 */
export type Predicate = (ctx: AnyContext, scope: ScopeName) => unknown

/**
 * Runs a layer where a predicate says so; elsewhere the call goes straight on inward.
 *
 * For layers that belong to some tenants, tools or environments. The predicate may be asynchronous. When it throws,
 * neither the layer nor what is inside runs: the error goes on as `layer.condition`, with the first as its cause.
 *
 * @example
 * agent.use(when((ctx) => ctx.tool?.name === 'refund', audit()))
 */
export function when<M extends Combinable>(predicate: Predicate, layer: M): Combined<M> {
  if (typeof predicate !== 'function')
    throw new AlliumError('layer.config', 'when() takes a function (ctx, scope) => boolean first, then the layer.')
  return combine('when', layer, (hook) => runIf('when', predicate, hook))
}

/** The hook where the predicate holds, else next(). `by` is the combinator, for the error of a predicate that throws. */
export function runIf(by: string, predicate: Predicate, hook: WrappedHook): AnyHook {
  const { run, scope } = hook
  return (ctx, next) => {
    let condition: unknown
    try {
      condition = predicate(ctx, scope)
    } catch (error) {
      throw conditionError(by, hook, ctx, error)
    }
    if (!isThenable(condition)) return condition ? run(ctx, next) : next()
    // What it had to wait for may be another thing by now; what it sees in its context is not.
    const pendingCondition = condition
    const recorded =
      ctx.once?.(`${by}:${scope}`, async () => Boolean(await pendingCondition), { per: 'attempt' }) ?? pendingCondition
    return Promise.resolve(recorded).then(
      (isActive) => (isActive ? run(ctx, next) : next()),
      (error) => {
        throw conditionError(by, hook, ctx, error)
      },
    )
  }
}

/** The error of a predicate, with the layer that it stands before; an abort or a block stays what it is. */
function conditionError(by: string, { layer, scope }: WrappedHook, ctx: AnyContext, cause: unknown): unknown {
  if (endsRun(ctx, cause)) return cause
  return new AlliumError(
    'layer.condition',
    `The condition of ${by}() around the layer "${layer}" threw in the ${scope} scope: ${messageOf(cause)}. It is asked in each scope that the layer hooks; take care of the fields that a scope lacks.`,
    { cause, details: { layer, scope } },
  )
}
