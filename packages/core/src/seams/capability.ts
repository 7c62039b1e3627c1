import { AlliumError } from '../errors/allium-error.ts'

/** The typed name of something that one layer provides and others use. */
export interface Capability<T> {
  readonly name: string
  /** Only for the type. */
  readonly __type?: T
}

/** Names a capability: `const Db = capability<Database>('db')`. */
export function capability<T>(name: string): Capability<T> {
  return Object.freeze({ name })
}

/** What was provided at one level; what is not found here is looked up outside. */
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

  /** Undefined where nothing was provided. */
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
