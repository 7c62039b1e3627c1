import { AlliumError, isAlliumError } from '@allium/core'
import { misfit, type Place, refused } from './place.ts'

/** What a value from outside must be: one source for the check, the TypeScript type and the OpenAPI document. */
export interface Schema<T> {
  /** Completes the sentence "The field must be …". */
  readonly expected: string
  readonly json: JsonSchema
  /** An object may leave the field out. */
  readonly optional?: true
  /** Returns the value as its type. Throws AlliumError `request.invalid` for the first misfit, so work is bounded by the value. */
  parse(value: unknown, place: Place): T
}

export type JsonSchema = Readonly<Record<string, unknown>>
/** The type of the values that a schema accepts. */
export type Of<S> = S extends Schema<infer T> ? T : never

export interface TextOptions {
  readonly min?: number
  readonly max?: number
  readonly pattern?: RegExp
  /** What the pattern, or `accepts`, stands for in words. */
  readonly expected?: string
  readonly accepts?: (text: string) => boolean
  /** @default 'request.invalid' */
  readonly code?: AlliumError['code']
  readonly json?: JsonSchema
}

/** A string; its bounds are in UTF-16 code units. */
export function text(options: TextOptions = {}): Schema<string> {
  const { min = 0, max, pattern, accepts = () => true, code, json } = options
  const { expected = textExpected(min, max) } = options
  const fits = (value: string) =>
    value.length >= min && (max === undefined || value.length <= max) && (pattern?.test(value) ?? true)
  return {
    expected,
    json: {
      type: 'string',
      ...(min > 0 && { minLength: min }),
      ...(max !== undefined && { maxLength: max }),
      ...(pattern !== undefined && { pattern: pattern.source }),
      ...json,
    },
    parse(value, place) {
      if (typeof value === 'string' && fits(value) && accepts(value)) return value
      throw misfit(place, expected, value, code)
    },
  }
}

function textExpected(min: number, max: number | undefined): string {
  if (max !== undefined) return `a string of ${min} to ${max} characters`
  return min > 0 ? 'a string that is not empty' : 'a string'
}

export function flag(): Schema<boolean> {
  return typed('boolean', 'true or false', (value) => typeof value === 'boolean')
}

function integer(min: number, max: number): Schema<number> {
  const isOne = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
  return typed('integer', `an integer from ${min} to ${max}`, isOne, { minimum: min, maximum: max })
}

/** An integer in a query or header, where every value is a string. */
export function integerText(min: number, max: number, fallback: number): Schema<number> {
  const { expected, json } = integer(min, max)
  return {
    expected,
    json: { ...json, default: fallback },
    optional: true,
    parse(value, place) {
      if (value === undefined) return fallback
      const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      throw misfit(place, expected, value)
    },
  }
}

/** One of some constants. */
export function oneOf<const T extends string | boolean | number>(...values: T[]): Schema<T> {
  const told = values.map((value) => JSON.stringify(value))
  const expected = told.length === 1 ? (told[0] as string) : `${told.slice(0, -1).join(', ')} or ${told.at(-1)}`
  const json = values.length === 1 ? { const: values[0] } : { enum: values }
  return {
    expected,
    json,
    parse(value, place) {
      if ((values as readonly unknown[]).includes(value)) return value as T
      throw misfit(place, expected, value)
    },
  }
}

/** Any JSON value. */
export function anything(json: JsonSchema = {}): Schema<unknown> {
  return {
    expected: 'any value',
    json,
    parse(value, place) {
      if (value !== undefined) return value
      throw misfit(place, 'any value', value)
    },
  }
}

/** Any JSON object, passed on as it is. */
export function anyObject(json: JsonSchema = {}): Schema<Readonly<Record<string, unknown>>> {
  return typed('object', 'an object', isObject, json)
}

/** A field that may be absent. */
export function optional<T>(schema: Schema<T>): Schema<T | undefined> & { readonly optional: true } {
  return {
    ...schema,
    optional: true,
    parse: (value, place) => (value === undefined ? undefined : schema.parse(value, place)),
  }
}

/** A field that may be absent or null, as in protocols whose clients write null for none. */
export function nullable<T>(schema: Schema<T>): Schema<T | undefined> & { readonly optional: true } {
  const { json } = schema
  return {
    ...schema,
    json: { anyOf: [json, { type: 'null' }] },
    optional: true,
    parse: (value, place) => (value === undefined || value === null ? undefined : schema.parse(value, place)),
  }
}

/** The same schema with a description, or other annotations, in the document. */
export function described<S extends Schema<unknown>>(schema: S, description: string, more: JsonSchema = {}): S {
  return { ...schema, json: { ...schema.json, description, ...more } }
}

/** What a schema accepts, as another type. */
export function mapped<T, U>(schema: Schema<T>, to: (value: T, place: Place) => U): Schema<U> {
  return { ...schema, parse: (value, place) => to(schema.parse(value, place), place) } as Schema<U>
}

/** The same schema under the name that it has in the document. */
export function named<S extends Schema<unknown>>(name: string, schema: S): S {
  return { ...schema, json: { $ref: `#/components/schemas/${name}` } }
}

/** The same schema, with another code for all that does not fit. */
export function coded<T>(schema: Schema<T>, code: AlliumError['code']): Schema<T> {
  return {
    ...schema,
    parse(value, place) {
      try {
        return schema.parse(value, place)
      } catch (error) {
        if (!isAlliumError(error)) throw error
        throw new AlliumError(code, error.message, { details: error.details })
      }
    },
  }
}

/**
 * A parameter of another protocol that is known and cannot be honored: only values that ask for nothing are accepted.
 *
 * @param harmless whether a value asks for nothing; null and absence always do
 */
export function unsupported(
  why: string,
  { harmless = () => false, json = {} }: { harmless?: (value: unknown) => boolean; json?: JsonSchema } = {},
): Schema<undefined> & { readonly optional: true } {
  return {
    expected: 'left out',
    json: { ...json, description: `Not supported: it ${why}` },
    optional: true,
    parse(value, place) {
      if (value === undefined || value === null || harmless(value)) return undefined
      throw refused(place, why)
    },
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typed<T>(
  type: string,
  expected: string,
  isOne: (value: unknown) => boolean,
  json: JsonSchema = {},
): Schema<T> {
  return {
    expected,
    json: { type, ...json },
    parse(value, place) {
      if (isOne(value)) return value as T
      throw misfit(place, expected, value)
    },
  }
}
