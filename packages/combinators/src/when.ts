import { AlliumError, messageOf, type ScopeName } from '@allium/core'
import { isThenable } from '@allium/core/internal'
import { endsRun } from './attempt.ts'
import { type AnyContext, type AnyHook, type Combinable, type Combined, combine, type WrappedHook } from './combine.ts'

/**
 * Decides whether the layer runs. It is called at each entry in every scope that the layer hooks. Agent hooks have no
 * principal, session hooks no input, and only tool hooks a `tool`.
 */
export type Predicate = (ctx: AnyContext, scope: ScopeName) => unknown

/**
 * Runs a layer if a predicate returns true; otherwise the call skips the layer.
 *
 * Use it for layers that apply to some tenants, tools or environments. The predicate may be asynchronous. If it throws, neither the
 * layer nor the inside runs, and the call fails with `layer.condition`, with the error as its cause.
 *
 * @example
 * agent.use(when((ctx) => ctx.tool?.name === 'refund', audit()))
 */
export function when<M extends Combinable>(predicate: Predicate, layer: M): Combined<M> {
  if (typeof predicate !== 'function')
    throw new AlliumError('layer.config', 'when() takes a function (ctx, scope) => boolean first, then the layer.')
  return combine('when', layer, (hook) => runIf('when', predicate, hook))
}

/**
 * Runs the hook if the predicate holds, or else next().
 *
 * @param by the combinator, for the error of a predicate that throws
 * @param options.isFixed whether the answer depends on the context alone, so that a replay need not record it
 */
export function runIf(by: string, predicate: Predicate, hook: WrappedHook, { isFixed = true } = {}): AnyHook {
  const { run, scope } = hook
  return (ctx, next) => {
    let condition: unknown
    try {
      condition = predicate(ctx, scope)
    } catch (error) {
      throw conditionError(by, hook, ctx, error)
    }
    if (isFixed && !isThenable(condition)) return condition ? run(ctx, next) : next()
    // An awaited answer may differ in a replay, so it is recorded, too.
    const toBoolean = () => (isThenable(condition) ? condition.then(Boolean) : Boolean(condition))
    const recorded =
      ctx.once === undefined ? condition : ctx.once(`${by}:${scope}`, toBoolean as () => boolean, { per: 'attempt' })
    if (!isThenable(recorded)) return recorded ? run(ctx, next) : next()
    return Promise.resolve(recorded).then(
      (isActive) => (isActive ? run(ctx, next) : next()),
      (error) => {
        throw conditionError(by, hook, ctx, error)
      },
    )
  }
}

/** Returns the error of a predicate, with its layer; an abort or a block stays unchanged. */
function conditionError(by: string, { layer, scope }: WrappedHook, ctx: AnyContext, cause: unknown): unknown {
  if (endsRun(ctx, cause)) return cause
  return new AlliumError(
    'layer.condition',
    `The condition of ${by}() around the layer "${layer}" threw in the ${scope} scope: ${messageOf(cause)}. It runs in each scope that the layer hooks, so check for fields that a scope does not have.`,
    { cause, details: { layer, scope } },
  )
}
