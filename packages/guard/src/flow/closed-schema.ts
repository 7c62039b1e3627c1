import type { JsonSchema } from '@allium/core'

/**
 * Returns why a JSON Schema could let text through; undefined if it cannot. Closed types are enums, constants, booleans, dates,
 * bounded numbers, nullable and optional versions of these, arrays of at most 100 enums and booleans, and objects with fixed keys.
 */
export function findOpenPart(schema: JsonSchema, path = 'the schema'): string | undefined {
  if ('enum' in schema || 'const' in schema) return undefined
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
  if (choices !== undefined) return firstProblem(choices.map((option) => findOpenPart(option, path)))
  const { type } = schema
  if (Array.isArray(type)) return firstProblem(type.map((option) => findOpenPart({ ...schema, type: option }, path)))
  switch (type) {
    case 'boolean':
    case 'null':
      return undefined
    case 'number':
    case 'integer':
      return isBounded(schema) ? undefined : `${path} is a number without minimum and maximum`
    case 'string':
      return schema.format === 'date' ? undefined : `${path} is a string that is neither an enum nor a date`
    case 'array':
      return findOpenArray(schema, path)
    case 'object':
      return findOpenObject(schema, path)
    default:
      return `${path} has an unknown type`
  }
}

function isBounded({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): boolean {
  const [low, high] = [minimum ?? exclusiveMinimum, maximum ?? exclusiveMaximum]
  return isBound(low) && isBound(high)
}

/** A limit that all safe integers satisfy is not a bound. */
function isBound(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
}

function findOpenArray({ items, maxItems, prefixItems }: JsonSchema, path: string): string | undefined {
  if (typeof maxItems !== 'number' || maxItems > 100) return `${path} is a list without a maxItems of 100 or less`
  const item: JsonSchema = prefixItems === undefined ? Object(items) : {}
  const isFlat = 'enum' in item || 'const' in item || item.type === 'boolean'
  return isFlat ? undefined : `${path} is a list whose items are neither enums nor booleans`
}

function findOpenObject({ properties, additionalProperties = false, patternProperties }: JsonSchema, path: string) {
  if (properties === undefined || additionalProperties !== false || patternProperties !== undefined)
    return `${path} is an object without fixed keys`
  return firstProblem(
    Object.entries(properties as Record<string, JsonSchema>).map(([key, option]) => findOpenPart(option, `"${key}"`)),
  )
}

function firstProblem(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((option) => option !== undefined)
}
