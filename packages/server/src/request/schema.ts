import { AlliumError, isAlliumError } from '@allium/core'
import { isRecord } from '@allium/core/internal'
import { type ValueLocation, violation } from './value-location.ts'

/** Describes a value from outside. Validation, the TypeScript type and the OpenAPI document all use it. */
export interface Schema<T> {
  /** Completes the sentence "The field must be …". */
  readonly expected: string
  readonly json: JsonSchema
  /** An object may omit the field. */
  readonly optional?: true
  /** Returns the typed value. Throws AlliumError `request.invalid` at the first violation, so the work is bounded by the value. */
  parse(value: unknown, location: ValueLocation): T
}

export type JsonSchema = Readonly<Record<string, unknown>>
/** The type of the values that a schema accepts. */
export type Infer<S> = S extends Schema<infer T> ? T : never

export interface TextOptions {
  readonly min?: number
  readonly max?: number
  readonly pattern?: RegExp
  /** Describes the pattern, or `accepts`, in words. */
  readonly expected?: string
  readonly accepts?: (text: string) => boolean
  /** @default 'request.invalid' */
  readonly code?: AlliumError['code']
  readonly json?: JsonSchema
}

/** A string. `min` and `max` count UTF-16 code units. */
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
    parse(value, location) {
      if (typeof value === 'string' && fits(value) && accepts(value)) return value
      throw violation(location, expected, value, code)
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

/** A whole number in a body. */
export function integer(min: number, max: number): Schema<number> {
  const isValid = (value: unknown) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
  return typed('integer', `an integer from ${min} to ${max}`, isValid, { minimum: min, maximum: max })
}

/** An integer in a query or header, where every value is a string. */
export function integerText(min: number, max: number, fallback: number): Schema<number> {
  const { expected, json } = integer(min, max)
  return {
    expected,
    json: { ...json, default: fallback },
    optional: true,
    parse(value, location) {
      if (value === undefined) return fallback
      const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      throw violation(location, expected, value)
    },
  }
}

/** One of several constants. */
export function oneOf<const T extends string | boolean | number>(...values: T[]): Schema<T> {
  const quoted = values.map((value) => JSON.stringify(value))
  const expected = quoted.length === 1 ? (quoted[0] as string) : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
  const json = values.length === 1 ? { const: values[0] } : { enum: values }
  return {
    expected,
    json,
    parse(value, location) {
      if ((values as readonly unknown[]).includes(value)) return value as T
      throw violation(location, expected, value)
    },
  }
}

/** Any JSON value. */
export function anything(json: JsonSchema = {}): Schema<unknown> {
  return {
    expected: 'any value',
    json,
    parse(value, location) {
      if (value !== undefined) return value
      throw violation(location, 'any value', value)
    },
  }
}

/** Any JSON object, unchanged. */
export function anyObject(json: JsonSchema = {}): Schema<Readonly<Record<string, unknown>>> {
  return typed('object', 'an object', isRecord, json)
}

/** A field that may be absent. */
export function optional<T>(schema: Schema<T>): Schema<T | undefined> & { readonly optional: true } {
  return {
    ...schema,
    optional: true,
    parse: (value, location) => (value === undefined ? undefined : schema.parse(value, location)),
  }
}

/** A field that may be absent or null, for protocols whose clients send null for absent values. */
export function nullable<T>(schema: Schema<T>): Schema<T | undefined> & { readonly optional: true } {
  const { json } = schema
  return {
    ...schema,
    json: { anyOf: [json, { type: 'null' }] },
    optional: true,
    parse: (value, location) => (value === undefined || value === null ? undefined : schema.parse(value, location)),
  }
}

/** Returns the schema with a description, or other annotations, for the OpenAPI document. */
export function described<S extends Schema<unknown>>(schema: S, description: string, annotations: JsonSchema = {}): S {
  return { ...schema, json: { ...schema.json, description, ...annotations } }
}

/** Returns a schema that converts the accepted values of another one. */
export function mapped<T, U>(schema: Schema<T>, to: (value: T, location: ValueLocation) => U): Schema<U> {
  return { ...schema, parse: (value, location) => to(schema.parse(value, location), location) } as Schema<U>
}

/** Returns the schema as a reference to its name in the OpenAPI document. */
export function named<S extends Schema<unknown>>(name: string, schema: S): S {
  return { ...schema, json: { $ref: `#/components/schemas/${name}` } }
}

/** Returns the schema with another error code for all violations. */
export function coded<T>(schema: Schema<T>, code: AlliumError['code']): Schema<T> {
  return {
    ...schema,
    parse(value, location) {
      try {
        return schema.parse(value, location)
      } catch (error) {
        if (!isAlliumError(error)) throw error
        throw new AlliumError(code, error.message, { details: error.details })
      }
    },
  }
}

function typed<T>(
  type: string,
  expected: string,
  isValid: (value: unknown) => boolean,
  json: JsonSchema = {},
): Schema<T> {
  return {
    expected,
    json: { type, ...json },
    parse(value, location) {
      if (isValid(value)) return value as T
      throw violation(location, expected, value)
    },
  }
}
