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

  provide<T>(capability: Capability<T>, value: T): void {
    this.#values ??= new Map()
    this.#values.set(capability.name, value)
  }

  /** Returns undefined if no layer provides it. */
  find<T>(capability: Capability<T>): T | undefined {
    return this.#valuesWith(capability.name)?.get(capability.name) as T | undefined
  }

  inject<T>(capability: Capability<T>): T {
    const values = this.#valuesWith(capability.name)
    if (values !== undefined) return values.get(capability.name) as T
    throw new AlliumError(
      'capability.missing',
      `Nothing provides the capability "${capability.name}" here. Register a layer that provides it before this one.`,
      { details: { capability: capability.name } },
    )
  }

  #valuesWith(name: string): ReadonlyMap<string, unknown> | undefined {
    if (this.#values?.has(name) === true) return this.#values
    return this.#outer === undefined ? undefined : this.#outer.#valuesWith(name)
  }
}
