import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import { checkSchema } from '../errors/check-schema.ts'
import { messageOf } from '../errors/describe.ts'
import { checkOptions, type KeysOf } from '../errors/known-options.ts'
import { isThenable, silence } from '../errors/thenable.ts'
import { isReservedKey } from '../messages/json.ts'

/** One key of the session's state, as declared by a layer. */
export interface StateField<T> {
  /** The initial value, cloned for each session, or a function that returns it. */
  default: T | (() => T)
  /** Combines the old value with a write. It must be synchronous and must not change `previous`. Without a reducer, the last write wins. */
  reducer?(previous: NoInfer<T>, delta: NoInfer<T>): NoInfer<T>
  /** `turn` resets the key to its default at the start of each turn. @default 'session' */
  scope?: 'session' | 'turn'
  /** Whether a SessionStore stores it. @default true */
  persist?: boolean
  /** Checks the value after each write. Must be synchronous. */
  schema?: StandardSchemaV1
}

const ofField: KeysOf<StateField<unknown>> = { default: true, reducer: true, scope: true, persist: true, schema: true }

/** A field whose default is compiled to a function. */
export interface CompiledField {
  readonly make: () => unknown
  readonly reducer: ((previous: unknown, delta: unknown) => unknown) | undefined
  readonly turn: boolean
  readonly persist: boolean
  readonly schema: StandardSchemaV1 | undefined
  readonly owner: string
}

export type Fields = Map<string, CompiledField>

/** Adds a layer's fields. Throws if a key has another owner, or if its default cannot be cloned. */
export function declareFields(fields: Fields, owner: string, declared: Record<string, StateField<unknown>>): void {
  const added: Fields = new Map()
  for (const key of Object.keys(declared)) {
    const other = fields.get(key)
    if (other !== undefined)
      throw new AlliumError(
        'state.conflict',
        `The state key "${key}" is declared by the layers "${other.owner}" and "${owner}". Give one of them another key, or another name with { as }.`,
        { details: { key, layers: [other.owner, owner] } },
      )
    added.set(key, compileField(key, owner, declared[key]))
  }
  for (const [key, field] of added) fields.set(key, field)
}

function compileField(key: string, owner: string, field: StateField<unknown> | undefined): CompiledField {
  if (isReservedKey(key))
    throw new AlliumError(
      'state.reserved_key',
      `Layer "${owner}" declares the state key "${key}", which would reach a prototype. Choose another key.`,
    )
  if (typeof field !== 'object' || field === null || !('default' in field))
    throw new AlliumError(
      'state.invalid',
      `The state key "${key}" of layer "${owner}" has no default. Declare { default: value }.`,
    )
  checkOptions(field, ofField, `The state key "${key}" of layer "${owner}"`, 'state.invalid')
  const { default: given, reducer, scope = 'session', persist = true, schema } = field
  return { make: maker(key, owner, given), reducer, turn: scope === 'turn', persist, schema, owner }
}

function maker(key: string, owner: string, given: unknown): () => unknown {
  if (typeof given === 'function') return given as () => unknown
  try {
    cloned(given)
  } catch (cause) {
    throw new AlliumError(
      'state.invalid',
      `The default of the state key "${key}" of layer "${owner}" cannot be cloned (${messageOf(cause)}). Pass a function that creates it.`,
      { cause },
    )
  }
  return () => cloned(given)
}

/** Returns the value of a key after a write. @throws AlliumError `state.reducer`, `state.invalid` */
export function written(key: string, field: CompiledField, previous: unknown, value: unknown): unknown {
  return checked(key, field, reduced(key, field, previous, value))
}

function reduced(key: string, { reducer, owner }: CompiledField, previous: unknown, delta: unknown): unknown {
  if (reducer === undefined) return delta
  let next: unknown
  try {
    next = reducer(previous, delta)
  } catch (cause) {
    throw new AlliumError(
      'state.reducer',
      `The reducer of the state key "${key}" (layer "${owner}") threw: ${messageOf(cause)}. The last good value is kept.`,
      { cause, details: { key, layer: owner } },
    )
  }
  if (!isThenable(next)) return next
  silence(next)
  throw new AlliumError(
    'state.reducer',
    `The reducer of the state key "${key}" (layer "${owner}") returned a promise. Reducers are synchronous: await first, then write.`,
    { details: { key, layer: owner } },
  )
}

/** Returns the value of a key as its schema parses it. @throws AlliumError `state.invalid` if it does not fit */
export function checked(
  key: string,
  { schema, owner }: CompiledField,
  value: unknown,
  writeKind = 'written to',
): unknown {
  const what = `The value ${writeKind} the state key "${key}" (layer "${owner}")`
  return checkSchema(schema, value, { what, code: 'state.invalid', details: { key } })
}

/** Returns a copy of a value. structuredClone() takes long, so values that cannot change are returned as they are. */
export const cloned = <T>(value: T): T => (Object(value) === value ? structuredClone(value) : value)
