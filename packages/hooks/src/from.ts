import { AlliumError, type TypedMiddleware } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { type Chain, chainOf } from './chain.ts'
import { layerOf } from './layer.ts'
import type { Lifecycle, LifecycleClass } from './lifecycle.ts'
import { generatedName, nameOf } from './name.ts'

export interface FromOptions {
  /** The layer's name. @default the names of the objects, joined by `+` */
  as?: string | undefined
  /**
   * How long an ended run waits for all of its terminal hooks, in milliseconds. Then it settles, and `observer:error` reports the abandoned
   * ones. @default 30_000
   */
  endTimeout?: number | undefined
}

const optionKeys: KeysOf<FromOptions> = { as: true, endTimeout: true }

/** An object with lifecycle hooks, or a class of them. */
export type LifecycleInput<C = unknown> = Lifecycle<C> | LifecycleClass<C>

/**
 * Creates one layer from an object with lifecycle hooks, a class, or several of these, whose hooks then run in order.
 *
 * Use it for logic that follows a run from start to end. Write a plain layer for logic that wraps one call.
 *
 * @throws AlliumError `layer.invalid` for an object without hooks, or a hook that is not a function
 *
 * @example
 * agent.use(hooks.from({ onStart: (ctx) => console.log(ctx.turnId), onUsage: (_, usage) => console.log(usage.outputTokens) }))
 */
export function from<C = unknown>(
  given: LifecycleInput<C> | readonly LifecycleInput<C>[],
  options: FromOptions = {},
): TypedMiddleware<{}, undefined, C> {
  checkOptions(options, optionKeys, 'hooks.from()', 'layer.config')
  const { as, endTimeout } = options
  const { name, chain } = read(Array.isArray(given) ? given : [given], as)
  return layerOf(name, chain, endTimeout)
}

/** Returns the hooks of several inputs, and their combined name. */
export function read(given: readonly unknown[], as: string | undefined): { name: string; chain: Chain } {
  const objects = given.map(toObject)
  const names = objects.map(nameOf)
  const knownNames = names.filter((objectName) => objectName !== undefined)
  const name = as ?? (knownNames.length === 0 ? generatedName() : knownNames.join('+'))
  return { name, chain: chainOf(objects.map((object, at) => ({ name: names[at] ?? name, object }))) }
}

function toObject(given: unknown): Lifecycle {
  const object: unknown = typeof given === 'function' ? new (given as LifecycleClass)() : given
  if (typeof object !== 'object' || object === null)
    throw new AlliumError(
      'layer.invalid',
      `hooks.from() takes an object such as { onStart(ctx) {…} }, a class with such methods, or an array of these, but ${given === null ? 'null' : typeof given} was given.`,
    )
  const hookName = ['turn', 'model', 'tool', 'session', 'agent'].find(
    (scope) => typeof (object as Record<string, unknown>)[scope] === 'function',
  )
  if (hookName === undefined) return object
  throw new AlliumError(
    'layer.invalid',
    `hooks.from() was given a layer: it has the hook ${hookName}(ctx, next). Pass it to agent.use() directly.`,
  )
}
