import type { JsonSchema } from '@allium/core'
import type { OutputUnit, Schema } from '@cfworker/json-schema'
import { type Check, isNewDraft, issueAt } from './compile-schema.ts'

/** For runtimes without code generation. Interprets the schema for each value. */
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

/** An error is followed by its causes, so the last one is the most specific. */
function toIssue(errors: readonly OutputUnit[]) {
  const { instanceLocation, error } = errors.at(-1) as OutputUnit
  return issueAt(decodeURI(instanceLocation).slice(1), error)
}

/** Returns a copy without formats. The validator changes schemas, and ajv does not check formats either. */
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
/** Keywords whose value maps names to schemas. */
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
