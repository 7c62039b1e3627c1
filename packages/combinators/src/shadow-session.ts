import type { StateField } from '@allium/core'
import type { AnyContext, WrappedHook } from './combine.ts'
import { copyOf } from './copy.ts'
import { silence } from './thenable.ts'

type State = Record<PropertyKey, unknown>
type Field = StateField<unknown>
type Write = (key: PropertyKey, value: unknown) => unknown

/** A shadow's own data for one session: the layer's state, its scratch records, its `once` results. */
export class ShadowSession {
  /** Capabilities that the shadow provided, visible only to itself. */
  readonly provided = new Map<string, unknown>()
  readonly #fields: Record<PropertyKey, Field>
  readonly #state: State = {}
  readonly #scratch = new WeakMap<object, State>()
  #onceResults = new Map<string, Promise<unknown>>()
  #turnId: string | undefined

  constructor(fields: object, real: State) {
    this.#fields = fields as Record<PropertyKey, Field>
    for (const [key, field] of Object.entries<Field>(this.#fields))
      this.#state[key] = key in real ? copyOf(real[key]) : defaultOf(field)
  }

  beginTurn(turnId: string | undefined): void {
    if (turnId === this.#turnId) return
    this.#turnId = turnId
    this.#onceResults = new Map()
    for (const key of Object.keys(this.#state)) {
      const field = this.#fields[key]
      if (field === undefined) delete this.#state[key]
      else if (field.scope === 'turn') this.#state[key] = defaultOf(field)
    }
  }

  /** Returns the session's current state, overlaid with the shadow's writes. */
  state(real: State, onWrite: (key: PropertyKey) => void): State {
    return overlay(this.#state, real, (key, value) => {
      onWrite(key)
      return reduceField(this.#fields[key], this.#state[key], value)
    })
  }

  /** The same for a scratch record. */
  metadata(real: State, onWrite: (key: PropertyKey) => void): State {
    const scratch = this.#scratch.get(real) ?? {}
    this.#scratch.set(real, scratch)
    return overlay(scratch, real, (key, value) => {
      onWrite(key)
      return value
    })
  }

  once(key: string, fn: () => unknown): Promise<unknown> {
    const pending = this.#onceResults.get(key) ?? Promise.resolve().then(fn)
    silence(pending)
    this.#onceResults.set(key, pending)
    return pending
  }
}

/** A shadow's data per session, by the object that identifies the session; agent hooks belong to none. */
export class ShadowSessions {
  readonly agent = new ShadowSession({}, {})
  readonly #sessions = new WeakMap<object, ShadowSession>()

  of({ spec }: WrappedHook, ctx: AnyContext, session: object | undefined): ShadowSession {
    if (session === undefined) return this.agent
    const shadowSession = this.#sessions.get(session) ?? new ShadowSession(spec.state ?? {}, ctx.state as State)
    this.#sessions.set(session, shadowSession)
    shadowSession.beginTurn(ctx.turnId)
    return shadowSession
  }
}

function defaultOf({ default: defaultValue }: Field): unknown {
  return typeof defaultValue === 'function' ? (defaultValue as () => unknown)() : copyOf(defaultValue)
}

/** Reduces a value as the session would. @throws the reducer's error, and an error when the schema rejects the value */
function reduceField(field: Field | undefined, before: unknown, value: unknown): unknown {
  const now = field?.reducer === undefined ? value : field.reducer(before as never, value as never)
  const checked = field?.schema?.['~standard'].validate(now)
  if (checked === undefined || checked instanceof Promise) return now
  if (checked.issues !== undefined) throw new Error(`The state does not fit its schema: ${checked.issues[0]?.message}.`)
  return checked.value
}

/** Returns a copy of the real values overlaid with its own; writes go to the overlay. */
function overlay(own: State, real: State, write: Write): State {
  const set = (target: State, key: PropertyKey, value: unknown) => {
    own[key] = target[key] = write(key, value)
    return true
  }
  return new Proxy<State>(Object.assign(copyOf({ ...real }), own), {
    set,
    defineProperty: (target, key, { value }) => set(target, key, value),
    deleteProperty: (target, key) => set(target, key, undefined),
    setPrototypeOf: () => false,
  })
}
