import { describe } from '../errors/describe.ts'
import { unknownName } from '../errors/nearest.ts'
import { isPlainObject, isRecord } from '../messages/json.ts'

/** The reason why a check failed. */
export interface Violation {
  /** The path to the wrong part, such as `[0].limit`; empty for the value itself. */
  readonly path: string
  /** Returns the message for the option of this name. */
  say(name: string): string
}

/** Checks the value of an option. `T` ties it to the option's type and does not exist at run time. */
export interface Check<T = never> {
  (value: unknown): Violation | undefined
  readonly type?: T
}

/** A required option. */
export interface Required<T = never> {
  readonly check: Check<T>
  /** A description of the option, for the error if it is missing. */
  readonly hint: string | undefined
}

/** The checks of a layer's options, or of an option's fields, by name. Required options use `required`. */
export type Declaration<O> = {
  readonly [K in keyof O]-?: {} extends Pick<O, K> ? Check<Exclude<O[K], undefined>> : Required<O[K]>
}

/** Marks an option as required. The error for a missing option shows the `hint`. */
export function required<T>(check: Check<T>, hint?: string): Required<T> {
  return { check, hint }
}

/** Accepts any value, for options that the layer checks itself or only passes on. */
export const any: Check = () => undefined
/** Accepts any string. */
export const text: Check<string> = (value) => (typeof value === 'string' ? undefined : violation(value, 'to be a text'))
/** Accepts any string. The error does not repeat the value. */
export const secret: Check<string> = (value) =>
  typeof value === 'string' ? undefined : { path: '', say: (name) => `needs ${name} to be a text.` }
/** Accepts `true` or `false`. */
export const flag: Check<boolean> = (value) =>
  typeof value === 'boolean' ? undefined : violation(value, 'to be true or false')
/** Accepts a function. */
export const fn: Check = (value) => (typeof value === 'function' ? undefined : violation(value, 'to be a function'))
/** Accepts a regular expression. */
export const pattern: Check<RegExp> = (value) =>
  value instanceof RegExp ? undefined : violation(value, 'to be a regular expression')
/** Accepts an object with any fields. */
export const object: Check = (value) => (isRecord(value) ? undefined : violation(value, 'to be an object'))

/** The bounds of a number: `from` and `to` are inclusive, `above` and `below` exclusive. */
export interface Range {
  from?: number
  to?: number
  above?: number
  below?: number
}

/** Accepts a number within the range, but not NaN. */
export function number(range: Range = {}): Check<number> {
  const what = `to be a number${describeRange(range)}`
  return (value) => (isWithin(value, range) ? undefined : violation(value, what))
}

/** Accepts an integer of `from` or more. */
export function whole(from: number): Check<number> {
  return (value) =>
    Number.isInteger(value) && (value as number) >= from
      ? undefined
      : violation(value, `to be a whole number, ${from} or more`)
}

/** Accepts one of these strings. */
export function oneOf<const T extends string>(...values: readonly T[]): Check<T> {
  const what = `to be ${values.map((value) => `'${value}'`).join(' or ')}`
  return (value) => (values.includes(value as T) ? undefined : violation(value, what))
}

/** Accepts a list whose items all pass the check. */
export function list<T>(of: Check<T>): Check<T[]> {
  return (value) =>
    Array.isArray(value) ? first(value.map((item, i) => within(`[${i}]`, of(item)))) : violation(value, 'to be a list')
}

/** Accepts a list that is not empty. */
export function some<T>(of: Check<T>): Check<T[]> {
  const items = list(of)
  return (value) => (Array.isArray(value) && value.length === 0 ? empty : items(value))
}

/** Accepts an object, with any field names, whose values all pass the check. */
export function record<T>(of: Check<T>): Check<Record<string, T>> {
  return (value) =>
    isRecord(value)
      ? first(Object.entries(value).map(([key, item]) => within(`[${JSON.stringify(key)}]`, of(item))))
      : violation(value, 'to be an object')
}

/** Accepts a value that passes one of the checks. If none passes, reports the violation with the longest path. */
export function either<const C extends readonly Check<unknown>[]>(...checks: C): Check<NonNullable<C[number]['type']>> {
  return (value) => {
    const violations: Violation[] = []
    for (const check of checks) {
      const found = check(value)
      if (found === undefined) return undefined
      violations.push(found)
    }
    return violations.reduce((furthest, one) => (one.path.length > furthest.path.length ? one : furthest))
  }
}

/** Accepts an object with these fields and no others. */
export function shape<O>(fields: Declaration<O>): Check<O> {
  const known = Object.keys(fields)
  return (value) => {
    if (!isRecord(value)) return violation(value, 'to be an object')
    const strange = isPlainObject(value) ? Object.keys(value).find((key) => !known.includes(key)) : undefined
    if (strange !== undefined) return within(`.${strange}`, unknown(strange, known))
    return first(known.map((key) => within(`.${key}`, field(fields[key as keyof O], value[key]))))
  }
}

function field(entry: Check<unknown> | Required<unknown>, value: unknown): Violation | undefined {
  if (typeof entry === 'function') return value === undefined ? undefined : entry(value)
  return value === undefined ? missing(entry.hint) : entry.check(value)
}

function violation(value: unknown, what: string): Violation {
  return { path: '', say: (name) => `needs ${name} ${what}, not ${describe(value)}.` }
}

const empty: Violation = { path: '', say: (name) => `needs a non-empty ${name}.` }

function missing(hint: string | undefined): Violation {
  return { path: '', say: (name) => `needs the option ${name}${hint === undefined ? '' : `: ${hint}`}.` }
}

function unknown(key: string, known: readonly string[]): Violation {
  return { path: '', say: (name) => `does not know the option ${name}. ${unknownName(key, known)}` }
}

function within(path: string, found: Violation | undefined): Violation | undefined {
  return found && { ...found, path: path + found.path }
}

function first(violations: readonly (Violation | undefined)[]): Violation | undefined {
  return violations.find((one) => one !== undefined)
}

function isWithin(value: unknown, { from, to, above, below }: Range): boolean {
  if (typeof value !== 'number' || Number.isNaN(value)) return false
  const isTooLow = (from !== undefined && value < from) || (above !== undefined && value <= above)
  return !isTooLow && !((to !== undefined && value > to) || (below !== undefined && value >= below))
}

function describeRange({ from, to, above, below }: Range): string {
  const low = above === undefined ? from : `above ${above}`
  const high = below === undefined ? to : `below ${below}`
  if (low === undefined && high === undefined) return ''
  if (typeof low === 'number' && typeof high === 'number') return ` from ${low} to ${high}`
  if (high === undefined) return typeof low === 'string' ? ` ${low}` : ` of ${low} or more`
  return low === undefined ? ` of at most ${high}` : ` ${low} and ${typeof high === 'string' ? high : `up to ${high}`}`
}
