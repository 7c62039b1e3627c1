import { isRecord, unknownName } from '@allium/core/internal'
import { requestError } from '../http/problem.ts'
import type { Infer, JsonSchema, Schema } from './schema.ts'
import { childLocation, pathOf, rejection, subjectOf, type ValueLocation, violation } from './value-location.ts'

export type Fields = Readonly<Record<string, Schema<unknown>>>
type OptionalKeys<F> = { [K in keyof F]: F[K] extends { readonly optional: true } ? K : never }[keyof F]
export type ObjectOf<F extends Fields> = { readonly [K in Exclude<keyof F, OptionalKeys<F>>]: Infer<F[K]> } & {
  readonly [K in OptionalKeys<F>]?: Infer<F[K]>
}

/** An object of a native route: an unknown field is an error. */
export function object<F extends Fields>(fields: F, json: JsonSchema = {}): Schema<ObjectOf<F>> {
  return objectOf(fields, { ...json, additionalProperties: false }, (value, location) => {
    for (const name of Object.keys(value)) if (!Object.hasOwn(fields, name)) throw unknownField(location, name, fields)
  })
}

/** An object of another protocol: unknown fields are ignored and removed. */
export function openObject<F extends Fields>(fields: F, json: JsonSchema = {}): Schema<ObjectOf<F>> {
  return objectOf(fields, json, () => {})
}

function objectOf<F extends Fields>(
  fields: F,
  json: JsonSchema,
  checkNames: (value: object, location: ValueLocation) => void,
): Schema<ObjectOf<F>> {
  const entries = Object.entries(fields)
  const required = entries.flatMap(([name, field]) => (field.optional ? [] : [name]))
  const properties = Object.fromEntries(entries.map(([name, field]) => [name, field.json]))
  const expected = required.length === 0 ? 'an object' : `an object with ${quoteNames(required)}`
  return {
    expected,
    json: { type: 'object', ...(required.length > 0 && { required }), properties, ...json },
    parse(value, location) {
      if (!isRecord(value)) throw violation(location, expected, value)
      checkNames(value, location)
      const parsed: [string, unknown][] = []
      for (const [name, field] of entries) {
        // Inherited names such as `constructor` are not fields of the object.
        const rawValue = Object.hasOwn(value, name) ? value[name] : undefined
        const parsedValue = field.parse(rawValue, childLocation(location, name))
        if (parsedValue !== undefined) parsed.push([name, parsedValue])
      }
      return Object.fromEntries(parsed) as ObjectOf<F>
    },
  }
}

function quoteNames(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(' and ')
}

function unknownField(location: ValueLocation, name: string, fields: Fields): Error {
  const field = childLocation(location, name)
  const names = Object.keys(fields)
  const hint = names.length === 0 ? 'No names are known here. Remove it.' : unknownName(name.slice(0, 60), names)
  return requestError('request.invalid', `${subjectOf(field)} is unknown. ${hint}`, { field: pathOf(field) })
}

/** A list of limited length. */
export function list<T>(item: Schema<T>, { min = 0, max }: { min?: number; max: number }): Schema<readonly T[]> {
  const expected = `a list of ${min} to ${max}`
  return {
    expected,
    json: { type: 'array', items: item.json, ...(min > 0 && { minItems: min }), maxItems: max },
    parse(value, location) {
      if (!Array.isArray(value) || value.length < min || value.length > max) throw violation(location, expected, value)
      return value.map((element, index) => item.parse(element, childLocation(location, index)))
    },
  }
}

/** Values by keys that the client chooses, such as call ids. */
export function record<T>(
  item: Schema<T>,
  { min = 0, max, maxKey = 256 }: { min?: number; max: number; maxKey?: number },
): Schema<Readonly<Record<string, T>>> {
  const expected = `an object with ${min} to ${max} entries, whose names have up to ${maxKey} characters`
  return {
    expected,
    json: {
      type: 'object',
      additionalProperties: item.json,
      ...(min > 0 && { minProperties: min }),
      maxProperties: max,
    },
    parse(value, location) {
      if (!isRecord(value)) throw violation(location, expected, value)
      const entries = Object.entries(value)
      if (entries.length < min || entries.length > max)
        throw rejection(location, `must be ${expected}, but has ${entries.length}.`)
      for (const [name] of entries)
        if (name.length > maxKey || name === '__proto__')
          throw rejection(
            childLocation(location, name),
            `has a name that is not allowed. A name has up to ${maxKey} characters.`,
          )
      return Object.fromEntries(
        entries.map(([name, element]) => [name, item.parse(element, childLocation(location, name))]),
      )
    },
  }
}

/** Objects that are distinguished by one field. @param otherwise accepts objects with another value; without it they are an error */
export function variants<V extends Readonly<Record<string, Schema<unknown>>>, O = never>(
  tag: string,
  cases: V,
  otherwise?: Schema<O>,
): Schema<Infer<V[keyof V]> | O> {
  const names = Object.keys(cases).map((name) => JSON.stringify(name))
  const expected = `an object whose \`${tag}\` is ${names.join(' or ')}`
  const all = [...Object.values(cases), ...(otherwise === undefined ? [] : [otherwise])]
  return {
    expected,
    json: otherwise === undefined ? { oneOf: all.map(({ json }) => json) } : { anyOf: all.map(({ json }) => json) },
    parse(value, location) {
      if (!isRecord(value)) throw violation(location, expected, value)
      const rawValue = Object.hasOwn(value, tag) ? value[tag] : undefined
      const found = typeof rawValue === 'string' && Object.hasOwn(cases, rawValue) ? cases[rawValue] : undefined
      if (found !== undefined) return found.parse(value, location) as Infer<V[keyof V]>
      if (otherwise !== undefined) return otherwise.parse(value, location)
      throw violation(childLocation(location, tag), names.join(' or '), rawValue)
    },
  }
}

/** A string or another value, for content that is either a text or a list of parts. */
export function textOr<T, U>(string: Schema<T>, other: Schema<U>): Schema<T | U> {
  const expected = `${string.expected}, or ${other.expected}`
  return {
    expected,
    json: { oneOf: [string.json, other.json] },
    parse(value, location) {
      if (value === undefined) throw violation(location, expected, value)
      return typeof value === 'string' ? string.parse(value, location) : other.parse(value, location)
    },
  }
}
