import { AlliumError } from '../errors/allium-error.ts'

/** The typed name of a value that one layer provides and others use. */
export interface Capability<T> {
  readonly name: string
  /** Exists only as a type. */
  readonly __type?: T
}

/** Creates a capability: `const Db = capability<Database>('db')`. */
export function capability<T>(name: string): Capability<T> {
  return Object.freeze({ name })
}

/** The values provided at one level. A lookup continues in the outer level. */
export class Capabilities {
  readonly #outer: Capabilities | undefined
  #values: Map<string, unknown> | undefined

  constructor(outer?: Capabilities) {
    this.#outer = outer
  }

  provide<T>(key: Capability<T>, value: T): void {
    this.#values ??= new Map()
    this.#values.set(key.name, value)
  }

  /** Returns undefined if no layer provides it. */
  find<T>(key: Capability<T>): T | undefined {
    if (this.#values?.has(key.name) === true) return this.#values.get(key.name) as T
    return this.#outer?.find(key)
  }
}

/** The members of a context that {@link inject} uses. */
interface Finds {
  find<T>(capability: Capability<T>): T | undefined
}

/**
 * Returns a capability that the layer or tool cannot do without. `ctx.find(capability)` returns undefined instead.
 *
 * @throws AlliumError `capability.missing`
 */
export function inject<T>(ctx: Finds, key: Capability<T>): T {
  const value = ctx.find(key)
  if (value !== undefined) return value
  throw new AlliumError(
    'capability.missing',
    `Nothing provides the capability "${key.name}" here. Register a layer that provides it before this one.`,
    { details: { capability: key.name } },
  )
}
