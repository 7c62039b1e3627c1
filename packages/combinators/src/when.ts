import { AlliumError, messageOf, type ScopeName } from '@allium/core'
import { isEnding } from './attempt.ts'
import { type AnyContext, type AnyHook, type Combinable, type Combined, combine, type HookPlace } from './combine.ts'
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
  return combine('when', layer, (place) => runIf('when', predicate, place))
}

/** The hook where the predicate holds, else next(). `by` is the combinator, for the error of a predicate that throws. */
export function runIf(by: string, predicate: Predicate, place: HookPlace): AnyHook {
  const { run, scope } = place
  return (ctx, next) => {
    let held: unknown
    try {
      held = predicate(ctx, scope)
    } catch (error) {
      throw named(by, place, ctx, error)
    }
    if (!isThenable(held)) return held ? run(ctx, next) : next()
    // What it had to wait for may be another thing by now; what it sees in its context is not.
    const found = held
    const kept = ctx.once?.(`${by}:${scope}`, async () => Boolean(await found), { per: 'attempt' }) ?? found
    return Promise.resolve(kept).then(
      (yes) => (yes ? run(ctx, next) : next()),
      (error) => {
        throw named(by, place, ctx, error)
      },
    )
  }
}

/** The error of a predicate, with the layer that it stands before; an abort or a block stays what it is. */
function named(by: string, { layer, scope }: HookPlace, ctx: AnyContext, cause: unknown): unknown {
  if (isEnding(ctx, cause)) return cause
  return new AlliumError(
    'layer.condition',
    `The condition of ${by}() around the layer "${layer}" threw in the ${scope} scope: ${messageOf(cause)}. It is asked in each scope that the layer hooks; take care of the fields that a scope lacks.`,
    { cause, details: { layer, scope } },
  )
}
