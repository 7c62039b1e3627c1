import {
  type AgentContext,
  AlliumError,
  type IsLoose,
  type Middleware,
  type NextFor,
  type ScopeName,
  type ToMiddleware,
  type Usable,
} from '@allium/core'
import { describe } from './describe.ts'

/** A layer in any form that `.use()` takes as one: an object, something with `toMiddleware()`, a turn function, or a list of these. */
export type Combinable = Usable | readonly [Usable, ...Usable[]]

type IsAny<T> = 0 extends 1 & T ? true : false
/** A hook whose context was typed by nothing but the combinator: it tells nothing of the agent's state. */
type Untied<H> = H extends (ctx: infer C, next: infer N) => infer R
  ? C extends { state: infer S }
    ? IsAny<S> extends true
      ? (ctx: never, next: N) => R
      : H
    : H
  : H

/** The type of a combined layer: the layer's own. */
export type Combined<M> = NoInfer<M extends readonly unknown[] ? { [I in keyof M]: CombinedOne<M[I]> } : CombinedOne<M>>
type CombinedOne<M> = M extends ((...args: never[]) => unknown) | ToMiddleware | readonly unknown[]
  ? M
  : IsLoose<M> extends true
    ? M
    : { [K in keyof M]: K extends ScopeName ? Untied<M[K]> : M[K] }

type ContextOf<K extends 'model' | 'tool'> = Omit<Parameters<NonNullable<Middleware[K]>>[0], keyof AgentContext>

/** The context of any scope: what a scope does not have is undefined in it. */
export type AnyContext = AgentContext & Partial<ContextOf<'model'> & ContextOf<'tool'>>
export type AnyHook = (ctx: AnyContext, next: NextFor<unknown>) => unknown

/** A hook of the layer that is combined. */
export interface WrappedHook {
  /** The layer's name; of a plain function its own. */
  readonly layer: string
  readonly scope: ScopeName
  readonly run: AnyHook
  /** What the layer declares. */
  readonly spec: Pick<Middleware, 'state'>
}
const scopes: readonly ScopeName[] = ['agent', 'session', 'turn', 'model', 'tool']
type Wrap = (hook: WrappedHook) => AnyHook

/**
 * The same layer with other hooks. What it declares (name, order, state, tools, …) stays, but for what `without` names.
 *
 * @param by the combinator's name, for messages
 */
export function combine<M extends Combinable>(
  by: string,
  given: M,
  wrap: Wrap,
  omittedFields: readonly (keyof Middleware)[] = [],
): Combined<M> {
  return combineAny(given) as Combined<M> // of the same form, with hooks of the same shape

  function combineAny(input: unknown): unknown {
    if (typeof input === 'function') return wrapFunction(input as AnyHook)
    if (Array.isArray(input)) return input.map(combineAny)
    if (typeof input !== 'object' || input === null) throw notALayer(by, input)
    const { toMiddleware } = input as { toMiddleware?: () => unknown }
    if (typeof toMiddleware !== 'function') return wrapLayer(input as Middleware)
    return copyWith(input, { toMiddleware: () => combineAny(toMiddleware.call(input)) })
  }

  function wrapFunction(run: AnyHook): AnyHook {
    const hook = wrap({ layer: run.name === '' ? 'a turn function' : run.name, scope: 'turn', run, spec: {} })
    return Object.defineProperty(hook, 'name', { value: run.name })
  }

  function wrapLayer(layer: Middleware): object {
    const overrides: Record<string, unknown> = {}
    for (const scope of scopes) {
      const run = layer[scope] as AnyHook | undefined
      if (typeof run === 'function')
        overrides[scope] = wrap({ layer: layer.name, scope, run: run.bind(layer), spec: layer })
    }
    if (layer.wrapHooks !== undefined) overrides.wrapHooks = layer.wrapHooks.bind(layer)
    for (const field of omittedFields) if (layer[field] !== undefined) overrides[field] = undefined
    return copyWith(layer, overrides)
  }
}

/** A copy that has other values in some fields; the layer itself may be frozen, or of a class. */
function copyWith(source: object, fields: Record<string, unknown>): object {
  const descriptors = Object.getOwnPropertyDescriptors(source) as PropertyDescriptorMap
  for (const [key, value] of Object.entries(fields))
    descriptors[key] = { value, enumerable: true, writable: true, configurable: true }
  return Object.create(Object.getPrototypeOf(source), descriptors)
}

function notALayer(by: string, given: unknown): AlliumError {
  return new AlliumError(
    'layer.invalid',
    `${by}() takes a layer such as { name, turn(ctx, next) {…} }, a turn function, or a list of them, but ${describe(given)} was given.`,
  )
}
