import type { Lifecycle } from './lifecycle.ts'

/** Returns the object's own name, or the name of its class. */
export function nameOf(object: Lifecycle): string | undefined {
  const ownName: unknown = object.getName?.() ?? (object as { name?: unknown }).name
  return typeof ownName === 'string' && ownName !== '' ? ownName : classNameOf(object)
}

/** Returns the name of an object's class; undefined for a plain object. */
export function classNameOf(object: object): string | undefined {
  const maker: { name?: string } | undefined = object.constructor
  return maker === undefined || maker === Object || maker.name === '' ? undefined : maker.name
}

/** Returns a generated name for an object without one. It is counted per process, because the layer's later position is unknown. */
export const generatedName = (): string => `hooks#${++nameCount}`
let nameCount = 0
