import type { Lifecycle } from './lifecycle.ts'

/** What an object calls itself, or the name of its class. */
export function nameOf(object: Lifecycle): string | undefined {
  const ownName: unknown = object.getName?.() ?? (object as { name?: unknown }).name
  return typeof ownName === 'string' && ownName !== '' ? ownName : classNameOf(object)
}

/** The name of the class that an object is of; a plain object is of none. */
export function classNameOf(object: object): string | undefined {
  const maker: { name?: string } | undefined = object.constructor
  return maker === undefined || maker === Object || maker.name === '' ? undefined : maker.name
}

/** A name by place, for what has none. It is counted in the process, as nobody knows where the layer will be used. */
export const generatedName = (): string => `hooks#${++nameCount}`
let nameCount = 0
