import type { StateField } from '@allium/core'
import type { AnyContext, HookPlace } from './combine.ts'
import { copyOf } from './copy.ts'
import { silence } from './thenable.ts'

type State = Record<PropertyKey, unknown>
type Field = StateField<unknown>
type Write = (key: PropertyKey, value: unknown) => unknown

/** What a shadow keeps of its own for one session: the layer's state, its scratch records, what it ran once. */
export class ShadowSession {
  /** What the shadow has provided, to itself alone. */
  readonly provided = new Map<string, unknown>()
  readonly #fields: Record<PropertyKey, Field>
  readonly #state: State = {}
  readonly #scratch = new WeakMap<object, State>()
  #once = new Map<string, Promise<unknown>>()
  #turnId: string | undefined

  constructor(fields: object, real: State) {
    this.#fields = fields as Record<PropertyKey, Field>
    for (const [key, field] of Object.entries<Field>(this.#fields))
      this.#state[key] = key in real ? copyOf(real[key]) : first(field)
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

  /** The session's state as it is now, with what the shadow has written in front of it. */
  state(real: State, wrote: (key: PropertyKey) => void): State {
    return overlay(this.#state, real, (key, value) => {
      wrote(key)
      return reduced(this.#fields[key], this.#state[key], value)
    })
  }

  /** The same for a scratch record. */
  metadata(real: State, wrote: (key: PropertyKey) => void): State {
    const own = this.#scratch.get(real) ?? {}
    this.#scratch.set(real, own)
    return overlay(own, real, (key, value) => {
      wrote(key)
      return value
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
  readonly agent = new ShadowSession({}, {})
  readonly #sessions = new WeakMap<object, ShadowSession>()

  of({ spec }: HookPlace, ctx: AnyContext, session: object | undefined): ShadowSession {
    if (session === undefined) return this.agent
    const own = this.#sessions.get(session) ?? new ShadowSession(spec.state ?? {}, ctx.state as State)
    this.#sessions.set(session, own)
    own.enter(ctx.turnId)
    return own
  }
}

function first({ default: made }: Field): unknown {
  return typeof made === 'function' ? (made as () => unknown)() : copyOf(made)
}

/** As the session would take it. @throws what the reducer throws, and where the schema refuses */
function reduced(field: Field | undefined, before: unknown, value: unknown): unknown {
  const now = field?.reducer === undefined ? value : field.reducer(before as never, value as never)
  const checked = field?.schema?.['~standard'].validate(now)
  if (checked === undefined || checked instanceof Promise) return now
  if (checked.issues !== undefined) throw new Error(`The state does not fit its schema: ${checked.issues[0]?.message}.`)
  return checked.value
}

/** A copy of what is real, with its own in front; what is written to it becomes its own. */
function overlay(own: State, real: State, write: Write): State {
  const set = (seen: State, key: PropertyKey, value: unknown) => {
    own[key] = seen[key] = write(key, value)
    return true
  }
  return new Proxy<State>(Object.assign(copyOf({ ...real }), own), {
    set,
    defineProperty: (seen, key, { value }) => set(seen, key, value),
    deleteProperty: (seen, key) => set(seen, key, undefined),
    setPrototypeOf: () => false,
  })
}
