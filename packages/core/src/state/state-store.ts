import { AlliumError } from '../errors/allium-error.ts'
import { isReservedKey } from '../messages/json.ts'
import { type CompiledField, checked, cloned, type Fields, written } from './field.ts'

export type State = Record<string, unknown>

/** How a write is handled. `late`: the writer was abandoned, so a failed write fails no run. */
export type StateWrite = 'taken' | 'late' | 'dropped'

/** The writer behind a view. */
export interface StateWriter {
  $writes(key: string): StateWrite
  $wrote(key: string, value: unknown): void
}

export interface StateHost {
  /** A write failed. The current turn must fail, even if a layer swallows the error. */
  failed(error: unknown): void
  /** A late write failed. No run depends on it any more. */
  report(error: unknown): void
  /** A write used a key that no layer declares. */
  undeclared(key: string): void
}

/** The state of one session. A write goes through the reducer of its key. */
export class StateStore {
  readonly #fields: Fields
  readonly #host: StateHost
  #values: State | undefined
  #view: State | undefined
  /** Whether keys without a declaration were written. */
  #strays = false

  constructor(fields: Fields, host: StateHost) {
    this.#fields = fields
    this.#host = host
  }

  /** The state for reads and writes. A cached proxy. */
  get view(): State {
    return (this.#view ??= new Proxy(this.#all(), new Traps(this)))
  }

  /** Returns the state for the reads and writes of one layer. */
  viewOf(writer: StateWriter): State {
    return new Proxy(this.#all(), new Traps(this, writer))
  }

  snapshot(): State {
    return { ...this.#all() }
  }

  /** Returns the values that a store keeps. */
  persistent(): State {
    return this.#copy(({ persist }) => persist)
  }

  /** Returns the initial state of a fork, from the values at some point. */
  ofSession(values: State): State {
    return this.#copy(({ turn }) => !turn, values)
  }

  /** @throws AlliumError `state.invalid` if a restored value does not match the schema of its key */
  checkRestored(state: State): void {
    for (const [key, value] of Object.entries(state)) {
      const field = this.#fields.get(key)
      if (field !== undefined) checked(key, field, value, 'restored to')
    }
  }

  /** Sets copies of the values without their reducers. */
  restore(state: State): void {
    const values = this.#all()
    for (const key of Object.keys(state)) if (!isReservedKey(key)) values[key] = cloned(state[key])
  }

  /** Resets the stored keys to the values of a `snapshot()`. */
  rollback(values: State): void {
    const all = this.#all()
    for (const [key, { persist }] of this.#fields) if (persist && Object.hasOwn(values, key)) all[key] = values[key]
  }

  /** Resets fields of scope `turn`. */
  beginTurn(): void {
    if (this.#values === undefined) return
    for (const [key, field] of this.#fields) if (field.turn) this.#values[key] = field.make()
  }

  /** Deletes undeclared keys, which last for one run. */
  endTurn(): void {
    if (this.#values === undefined || !this.#strays) return
    for (const key of Object.keys(this.#values)) if (!this.#fields.has(key)) delete this.#values[key]
    this.#strays = false
  }

  #copy(wanted: (field: CompiledField) => boolean, values = this.#all()): State {
    const copy: State = {}
    for (const [key, value] of Object.entries(values)) {
      const field = this.#fields.get(key)
      if (field !== undefined && wanted(field)) copy[key] = cloned(value)
    }
    return copy
  }

  #all(): State {
    if (this.#values === undefined) {
      const values: State = (this.#values = {})
      for (const [key, field] of this.#fields) values[key] = field.make()
    }
    return this.#values
  }

  /** Writes one key through its reducer. */
  write(key: string | symbol, value: unknown, writer?: StateWriter): boolean {
    const values = this.#all()
    if (typeof key === 'symbol' || isReservedKey(key)) return refuse(key)
    const writeKind = writer === undefined ? 'taken' : writer.$writes(key)
    if (writeKind === 'dropped') return true
    const field = this.#fields.get(key)
    if (field === undefined) {
      this.#strays = true
      this.#host.undeclared(key)
      values[key] = value
      return true
    }
    try {
      values[key] = written(key, field, values[key], value)
    } catch (error) {
      if (writeKind === 'late') this.#host.report(error)
      else this.#host.failed(error)
      throw error
    }
    writer?.$wrote(key, value)
    return true
  }
}

/** The proxy handler of a view. It is a class, so that a session's view costs one small object. */
class Traps implements ProxyHandler<State> {
  readonly #store: StateStore
  readonly #writer: StateWriter | undefined

  constructor(store: StateStore, writer?: StateWriter) {
    this.#store = store
    this.#writer = writer
  }

  get(values: State, key: string | symbol): unknown {
    return Object.hasOwn(values, key) ? values[key as string] : undefined
  }
  has(values: State, key: string | symbol): boolean {
    return Object.hasOwn(values, key)
  }
  set(_: State, key: string | symbol, value: unknown): boolean {
    return this.#store.write(key, value, this.#writer)
  }
  defineProperty(_: State, key: string | symbol): never {
    return refuse(key)
  }
  deleteProperty(_: State, key: string | symbol): never {
    return refuse(key)
  }
  setPrototypeOf(): never {
    return refuse('__proto__')
  }
}

function refuse(key: string | symbol): never {
  throw new AlliumError(
    'state.reserved_key',
    `The state key ${String(key)} cannot be set or removed this way. Write ctx.state['your:key'] = value.`,
  )
}
