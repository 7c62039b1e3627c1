import type { JsonSchema } from '@allium/core'

/**
 * Why a JSON Schema could let text through, if it could: enums, constants, booleans, dates, bounded numbers, nullable and
 * optional ones of these, arrays of enums and booleans of at most 100, objects of fixed keys.
 */
export function openPart(schema: JsonSchema, at = 'the schema'): string | undefined {
  if ('enum' in schema || 'const' in schema) return undefined
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
  if (choices !== undefined) return first(choices.map((one) => openPart(one, at)))
  const { type } = schema
  if (Array.isArray(type)) return first(type.map((one) => openPart({ ...schema, type: one }, at)))
  switch (type) {
    case 'boolean':
    case 'null':
      return undefined
    case 'number':
    case 'integer':
      return isBounded(schema) ? undefined : `${at} is a number without minimum and maximum`
    case 'string':
      return schema.format === 'date' ? undefined : `${at} is a text that is no enum and no date`
    case 'array':
      return openArray(schema, at)
    case 'object':
      return openObject(schema, at)
    default:
      return `${at} is of no type that is known`
  }
}

function isBounded({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): boolean {
  const [low, high] = [minimum ?? exclusiveMinimum, maximum ?? exclusiveMaximum]
  return isBound(low) && isBound(high)
}

/** What a schema says of all integers is no bound. */
function isBound(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
}

function openArray({ items, maxItems }: JsonSchema, at: string): string | undefined {
  if (typeof maxItems !== 'number' || maxItems > 100) return `${at} is a list without a maxItems of 100 or less`
  const item = (items ?? {}) as JsonSchema
  const isFlat = 'enum' in item || 'const' in item || item.type === 'boolean'
  return isFlat ? undefined : `${at} is a list of what is neither enum nor boolean`
}

function openObject({ properties, additionalProperties = false, patternProperties }: JsonSchema, at: string) {
  if (properties === undefined || additionalProperties !== false || patternProperties !== undefined)
    return `${at} is an object of keys that are not fixed`
  return first(Object.entries(properties as Record<string, JsonSchema>).map(([key, one]) => openPart(one, `"${key}"`)))
}

function first(found: readonly (string | undefined)[]): string | undefined {
  return found.find((one) => one !== undefined)
}
