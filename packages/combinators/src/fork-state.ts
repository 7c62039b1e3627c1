import { type CompiledField, declareFields, type Fields, type State, StateStore, silence } from '@allium/core'
import type { AnyContext, HookPlace } from './combine.ts'
import { copyOf } from './copy.ts'
import { sessionOf } from './record.ts'

/** What a shadow keeps of its own for one session: the layer's state, its scratch records, what it ran once. */
export class ForkSession {
  readonly provided = new Map<string, unknown>()
  #once = new Map<string, Promise<unknown>>()
  readonly scratch = new Scratch()
  #turnId: string | undefined
  readonly #store: StateStore

  constructor({ layer, spec }: HookPlace, real: State) {
    const fields: Fields = new Map<string, CompiledField>()
    declareFields(fields, layer, spec.state ?? {})
    this.#store = new StateStore(fields, { failed: () => {}, told: () => {}, undeclared: () => {} })
    for (const key of fields.keys()) if (key in real) this.#store.restore({ [key]: copyOf(real[key]) })
  }

  enter(turnId: string | undefined): void {
    if (turnId === this.#turnId) return
    this.#turnId = turnId
    this.#once = new Map()
    this.#store.endTurn()
    this.#store.beginTurn()
  }

  /** The session's state, with what the shadow has written in front of it. */
  state(real: State, wrote: (key: string) => void): State {
    return overlay(this.#store.view, real, wrote)
  }

  once(key: string, fn: () => unknown): Promise<unknown> {
    const made = this.#once.get(key) ?? Promise.resolve().then(fn)
    silence(made)
    this.#once.set(key, made)
    return made
  }
}

/** What a shadow writes to scratch records, by the record. */
class Scratch {
  readonly #own = new WeakMap<object, State>()

  metadata(real: State, wrote: (key: string) => void): State {
    let own = this.#own.get(real)
    if (own === undefined) this.#own.set(real, (own = Object.create(null) as State))
    return overlay(own, real, wrote)
  }
}

/** The session that a context belongs to, by what is its own. */
export class ForkSessions {
  readonly #sessions = new WeakMap<object, ForkSession>()
  readonly #agent = new Map<string, unknown>()
  readonly scratch = new Scratch()

  of(place: HookPlace, ctx: AnyContext): ForkSession | undefined {
    const key = sessionOf(ctx)
    if (key === undefined) return undefined
    let session = this.#sessions.get(key)
    if (session === undefined) this.#sessions.set(key, (session = new ForkSession(place, ctx.state as State)))
    session.enter(ctx.turnId)
    return session
  }

  /** What the shadow provides, to itself alone. */
  provide(session: ForkSession | undefined, name: string, value: unknown): void {
    const provided = session?.provided ?? this.#agent
    provided.set(name, value)
  }
  provided(session: ForkSession | undefined, name: string): { value: unknown } | undefined {
    for (const provided of [session?.provided, this.#agent])
      if (provided?.has(name) === true) return { value: provided.get(name) }
    return undefined
  }
}

/** Reads what was written to `own`, else a copy of what is in `real`, which stays as it is. */
function overlay(own: State, real: State, wrote: (key: string) => void): State {
  return new Proxy<State>(
    {},
    {
      get: (_, key) => (Reflect.has(own, key) ? Reflect.get(own, key) : copyOf(Reflect.get(real, key))),
      has: (_, key) => Reflect.has(own, key) || Reflect.has(real, key),
      ownKeys: () => [...new Set([...Reflect.ownKeys(real), ...Reflect.ownKeys(own)])],
      getOwnPropertyDescriptor(_, key) {
        if (!Reflect.has(own, key) && !Reflect.has(real, key)) return undefined
        const value: unknown = Reflect.has(own, key) ? Reflect.get(own, key) : copyOf(Reflect.get(real, key))
        return { value, enumerable: true, configurable: true, writable: true }
      },
      set(_, key, value) {
        wrote(String(key))
        return Reflect.set(own, key, value)
      },
      defineProperty(_, key, { value }) {
        wrote(String(key))
        return Reflect.set(own, key, value)
      },
      deleteProperty(_, key) {
        wrote(String(key))
        return Reflect.set(own, key, undefined)
      },
      setPrototypeOf: () => false,
    },
  )
}
