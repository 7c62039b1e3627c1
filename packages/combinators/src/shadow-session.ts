import type { StateField } from '@allium/core'
import type { AnyContext, HookPlace } from './combine.ts'
import { copyOf } from './copy.ts'
import { silence } from './thenable.ts'

type State = Record<string, unknown>
type Field = StateField<unknown>

/** What a shadow keeps of its own for one session: the layer's state, its scratch records, what it ran once. */
export class ShadowSession {
  readonly provided = new Map<string, unknown>()
  readonly #fields: Record<string, Field>
  readonly #state: State = Object.create(null)
  readonly #scratch = new WeakMap<object, State>()
  #once = new Map<string, Promise<unknown>>()
  #turnId: string | undefined

  constructor({ spec }: HookPlace, real: State | undefined) {
    this.#fields = (spec.state ?? {}) as Record<string, Field>
    for (const [key, field] of Object.entries(this.#fields))
      this.#state[key] = real !== undefined && key in real ? copyOf(real[key]) : first(field)
  }

  enter(turnId: string | undefined): void {
    if (turnId === this.#turnId) return
    this.#turnId = turnId
    this.#once = new Map()
    for (const key of Object.keys(this.#state)) {
      const field = this.#fields[key]
      if (field === undefined) delete this.#state[key]
      else if (field.scope === 'turn') this.#state[key] = first(field)
    }
  }

  /** The session's state, with what the shadow has written in front of it. */
  state(real: State, wrote: (key: string) => void): State {
    return overlay(this.#state, real, (key, value) => {
      wrote(key)
      this.#state[key] = reduced(this.#fields[key], this.#state[key], value)
    })
  }

  /** The same for a scratch record. */
  metadata(real: State, wrote: (key: string) => void): State {
    const own = this.#scratch.get(real) ?? (Object.create(null) as State)
    this.#scratch.set(real, own)
    return overlay(own, real, (key, value) => {
      wrote(key)
      own[key] = value
    })
  }

  once(key: string, fn: () => unknown): Promise<unknown> {
    const made = this.#once.get(key) ?? Promise.resolve().then(fn)
    silence(made)
    this.#once.set(key, made)
    return made
  }
}

/** What a shadow keeps, by what stands for the session that it belongs to; agent hooks belong to none. */
export class ShadowSessions {
  readonly #sessions = new WeakMap<object, ShadowSession>()
  #agent: ShadowSession | undefined

  of(place: HookPlace, ctx: AnyContext, session: object | undefined): ShadowSession {
    this.#agent ??= new ShadowSession({ ...place, spec: {} }, undefined)
    if (session === undefined) return this.#agent
    const own = this.#sessions.get(session) ?? new ShadowSession(place, ctx.state as State)
    this.#sessions.set(session, own)
    own.enter(ctx.turnId)
    return own
  }

  /** What the shadow has provided, to itself alone. */
  provided(session: ShadowSession, name: string): { value: unknown } | undefined {
    for (const { provided } of [session, this.#agent ?? session])
      if (provided.has(name)) return { value: provided.get(name) }
    return undefined
  }
}

function first({ default: made }: Field): unknown {
  return typeof made === 'function' ? (made as () => unknown)() : copyOf(made)
}

function reduced(field: Field | undefined, before: unknown, value: unknown): unknown {
  const now = field?.reducer === undefined ? value : field.reducer(before as never, value as never)
  const checked = field?.schema?.['~standard'].validate(now)
  if (checked === undefined || checked instanceof Promise) return now
  if (checked.issues !== undefined) throw new Error(`The state does not fit its schema: ${checked.issues[0]?.message}.`)
  return checked.value
}

/** Reads what is its own, else a copy of what is in `real`, which stays as it is. */
function overlay(own: State, real: State, write: (key: string, value: unknown) => void): State {
  const set = (key: PropertyKey, value: unknown) => {
    write(String(key), value)
    return true
  }
  const get = (key: PropertyKey) => (Reflect.has(own, key) ? Reflect.get(own, key) : copyOf(Reflect.get(real, key)))
  const has = (key: PropertyKey) => Reflect.has(own, key) || Reflect.has(real, key)
  return new Proxy<State>(
    {},
    {
      get: (_, key) => get(key),
      has: (_, key) => has(key),
      ownKeys: () => [...new Set([...Reflect.ownKeys(real), ...Reflect.ownKeys(own)])],
      getOwnPropertyDescriptor: (_, key) =>
        has(key) ? { value: get(key), enumerable: true, configurable: true, writable: true } : undefined,
      set: (_, key, value) => set(key, value),
      defineProperty: (_, key, { value }) => set(key, value),
      deleteProperty: (_, key) => set(key, undefined),
      setPrototypeOf: () => false,
    },
  )
}
