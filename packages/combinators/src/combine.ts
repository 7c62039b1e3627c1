import {
  type AgentContext,
  AlliumError,
  type Middleware,
  type NextFor,
  type ScopeName,
  type ToMiddleware,
  type Usable,
} from '@allium/core'
import type { IsLoose } from '@allium/core/internal'
import { describe } from './describe.ts'

/** A layer in any form that `.use()` accepts: an object, an object with `toMiddleware()`, a turn function, or a list of these. */
export type Combinable = Usable | readonly [Usable, ...Usable[]]

type IsAny<T> = 0 extends 1 & T ? true : false
/** A hook whose context was typed only by the combinator says nothing about the agent's state. */
type Untied<H> = H extends (ctx: infer C, next: infer N) => infer R
  ? C extends { state: infer S }
    ? IsAny<S> extends true
      ? (ctx: never, next: N) => R
      : H
    : H
  : H

/** The type of a combined layer, which is the layer's own type. */
export type Combined<M> = NoInfer<M extends readonly unknown[] ? { [I in keyof M]: CombinedOne<M[I]> } : CombinedOne<M>>
type CombinedOne<M> = M extends ((...args: never[]) => unknown) | ToMiddleware | readonly unknown[]
  ? M
  : IsLoose<M> extends true
    ? M
    : { [K in keyof M]: K extends ScopeName ? Untied<M[K]> : M[K] }

type ContextOf<K extends ScopeName> = Omit<Parameters<NonNullable<Middleware[K]>>[0], keyof AgentContext>

/** The context of any scope; members that a scope does not have are undefined. */
export type AnyContext = AgentContext & Partial<ContextOf<'turn'> & ContextOf<'model'> & ContextOf<'tool'>>
export type AnyHook = (ctx: AnyContext, next: NextFor<unknown>) => unknown

/** A hook of the combined layer. */
export interface WrappedHook {
  /** The layer's name, or the name of a plain function. */
  readonly layer: string
  readonly scope: ScopeName
  readonly run: AnyHook
  /** The layer's declarations. */
  readonly spec: Pick<Middleware, 'state'>
}
const scopes: readonly ScopeName[] = ['agent', 'session', 'turn', 'model', 'tool']
type Wrap = (hook: WrappedHook) => AnyHook

/**
 * Returns the same layer with other hooks. Its declarations (name, order, state, tools, …) stay, except those in `omittedFields`.
 *
 * @param by the combinator's name, for messages
 */
export function combine<M extends Combinable>(
  by: string,
  given: M,
  wrap: Wrap,
  omittedFields: readonly (keyof Middleware)[] = [],
): Combined<M> {
  return combineAny(given) as Combined<M> // the same form, with hooks of the same shape

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

/** Returns a copy with other values in some fields. The layer itself may be frozen, or an instance of a class. */
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
