import { describe } from '../errors/describe.ts'
import { unknownName } from '../errors/nearest.ts'
import { isPlain } from '../errors/plain.ts'

/** What is wrong with a value. */
export interface Violation {
  /** Where inside it: `[0].limit`; empty for the value itself. */
  readonly path: string
  /** Says it, with the name of the place. */
  say(name: string): string
}

/** Looks at the value of an option. `T` ties it to the option's type; nothing is there at run time. */
export interface Check<T = never> {
  (value: unknown): Violation | undefined
  readonly type?: T
}

/** An option that must be given. */
export interface Required<T = never> {
  readonly check: Check<T>
  /** What it is, for the error where it is missing. */
  readonly hint: string | undefined
}

/** The options of a layer, or the fields of one, each by its name: what must be given is `required`. */
export type Declaration<O> = {
  readonly [K in keyof O]-?: {} extends Pick<O, K> ? Check<Exclude<O[K], undefined>> : Required<O[K]>
}

/** Makes an option one that must be given; `hint` says in the error what it is. */
export function required<T>(check: Check<T>, hint?: string): Required<T> {
  return { check, hint }
}

/** What the layer itself looks at, or only passes on. */
export const any: Check = () => undefined
/** Any text. */
export const text: Check<string> = (value) => (typeof value === 'string' ? undefined : violation(value, 'to be a text'))
/** A text that no error repeats. */
export const secret: Check<string> = (value) =>
  typeof value === 'string' ? undefined : { path: '', say: (name) => `needs ${name} to be a text.` }
/** `true` or `false`. */
export const flag: Check<boolean> = (value) =>
  typeof value === 'boolean' ? undefined : violation(value, 'to be true or false')
/** A function. */
export const fn: Check = (value) => (typeof value === 'function' ? undefined : violation(value, 'to be a function'))
/** A regular expression. */
export const pattern: Check<RegExp> = (value) =>
  value instanceof RegExp ? undefined : violation(value, 'to be a regular expression')
/** An object of any fields. */
export const object: Check = (value) => (isObject(value) ? undefined : violation(value, 'to be an object'))

/** The bounds of a number: `from` and `to` belong to it, `above` and `below` do not. */
export interface Range {
  from?: number
  to?: number
  above?: number
  below?: number
}

/** A number; NaN is none. */
export function number(range: Range = {}): Check<number> {
  const what = describeRange(range)
  return (value) => (isWithin(value, range) ? undefined : violation(value, what))
}

/** A number without a fraction. */
export function whole(from: number): Check<number> {
  return (value) =>
    Number.isInteger(value) && (value as number) >= from
      ? undefined
      : violation(value, `to be a whole number, ${from} or more`)
}

/** One of these texts. */
export function oneOf<const T extends string>(...values: readonly T[]): Check<T> {
  const what = `to be ${values.map((value) => `'${value}'`).join(' or ')}`
  return (value) => (values.includes(value as T) ? undefined : violation(value, what))
}

/** A list of what fits. */
export function list<T>(of: Check<T>): Check<T[]> {
  return (value) =>
    Array.isArray(value) ? first(value.map((item, i) => within(`[${i}]`, of(item)))) : violation(value, 'to be a list')
}

/** A list that names something. */
export function some<T>(of: Check<T>): Check<T[]> {
  const items = list(of)
  return (value) => (Array.isArray(value) && value.length === 0 ? empty : items(value))
}

/** An object whose fields, of any name, all fit. */
export function record<T>(of: Check<T>): Check<Record<string, T>> {
  return (value) =>
    isObject(value)
      ? first(Object.entries(value).map(([key, field]) => within(`[${JSON.stringify(key)}]`, of(field))))
      : violation(value, 'to be an object')
}

/** What fits one of them; where it fits none, the error is that of the one that got furthest. */
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

/** An object of these fields and no others. */
export function shape<O>(fields: Declaration<O>): Check<O> {
  const known = Object.keys(fields)
  return (value) => {
    if (!isObject(value)) return violation(value, 'to be an object')
    const strange = isPlain(value) ? Object.keys(value).find((key) => !known.includes(key)) : undefined
    if (strange !== undefined) return within(`.${strange}`, unknown(strange, known))
    return first(known.map((key) => within(`.${key}`, field(fields[key as keyof O], value[key]))))
  }
}

function field(entry: Check<unknown> | Required<unknown>, value: unknown): Violation | undefined {
  if (typeof entry === 'function') return value === undefined ? undefined : entry(value)
  return value === undefined ? missing(entry.hint) : entry.check(value)
}

function violation(value: unknown, what: string): Violation {
  return { path: '', say: (name) => `needs ${name} ${what}, but ${describe(value)} was given.` }
}

const empty: Violation = { path: '', say: (name) => `needs ${name} to name something, and it is empty.` }

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
  if (low === undefined && high === undefined) return 'to be a number'
  if (typeof low === 'number' && typeof high === 'number') return `from ${low} to ${high}`
  if (high === undefined) return typeof low === 'string' ? low : `of ${low} or more`
  return low === undefined
    ? `of ${high} at the most`
    : `${low} and ${typeof high === 'string' ? high : `up to ${high}`}`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
