import type { JsonSchema } from '@allium/core'
import type { OutputUnit, Schema } from '@cfworker/json-schema'
import { type Check, isNewDraft, issueAt } from './compile-schema.ts'

/** For runtimes that make no code from strings: the schema is read anew for each value. */
export async function interpretSchema(schema: JsonSchema): Promise<Check> {
  const { Validator } = await import('@cfworker/json-schema')
  const validator = new Validator(withoutFormats(schema) as Schema, isNewDraft(schema) ? draftOf(schema) : '7')
  return (value) => {
    const { valid, errors } = validator.validate(value)
    return valid ? [] : [toIssue(errors)]
  }
}

function draftOf({ $schema }: JsonSchema): '2019-09' | '2020-12' {
  return String($schema).includes('2019-09') ? '2019-09' : '2020-12'
}

/** Inner errors follow those that they caused: the last one says what is wrong. */
function toIssue(errors: readonly OutputUnit[]) {
  const { instanceLocation, error } = errors.at(-1) as OutputUnit
  return issueAt(decodeURI(instanceLocation).slice(1), error)
}

/** A copy, for the validator writes on schemas, and it would check formats, which ajv is told not to. */
function withoutFormats(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutFormats)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).filter(([key]) => key !== 'format')
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (dataKeywords.has(key)) return [key, value]
      return [key, schemaMapKeywords.has(key) ? mapped(value) : withoutFormats(value)]
    }),
  )
}

/** Keywords whose value is data. */
const dataKeywords = new Set(['const', 'default', 'enum', 'examples', 'required'])
/** Keywords that hold schemas by names of their own. */
const schemaMapKeywords = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

function mapped(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, withoutFormats(schema)]))
}
