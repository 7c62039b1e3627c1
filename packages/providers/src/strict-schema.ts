import type { ToolDef } from '@allium/core'
import { isRecord } from '@allium/core/internal'

export type JsonSchema = ToolDef['jsonSchema']

/** The keywords of OpenAI's strict mode (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas). */
const keywords = new Set(
  'type title description enum const properties required additionalProperties items anyOf oneOf $ref $defs definitions pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems'.split(
    ' ',
  ),
)
const formats = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'])

/**
 * Returns a schema for a provider's strict mode, which rejects objects that do not forbid other properties. Undefined if strict mode
 * cannot express the schema.
 *
 * @param takesOptional whether objects may have optional properties. OpenAI requires all of them
 */
export function strictSchema(schema: JsonSchema, takesOptional: boolean): JsonSchema | undefined {
  return schema.type === 'object' && isStrict(schema, takesOptional) ? closed(schema) : undefined
}

function isStrict(schema: unknown, takesOptional: boolean): boolean {
  if (!isRecord(schema) || !Object.keys(schema).every((key) => keywords.has(key))) return false
  const { type, $ref, anyOf, oneOf, items, properties, required, additionalProperties, pattern, format } = schema
  if ($ref !== undefined) return Object.keys(schema).length === 1
  const variants = anyOf ?? oneOf
  if (type === undefined && variants === undefined) return false
  if (variants !== undefined && (properties !== undefined || (anyOf !== undefined && oneOf !== undefined))) return false
  if (hasType(type, 'array') && items === undefined) return false
  if (hasType(type, 'object') && !(isRecord(properties) && (additionalProperties ?? false) === false)) return false
  // Strict mode compiles patterns without lookaround.
  if (/\(\?[^:]/.test(String(pattern)) || (format !== undefined && !formats.has(String(format)))) return false
  if (!takesOptional && !Object.keys(properties ?? {}).every((name) => isIn(required, name))) return false
  return subschemas(schema).every((one) => isStrict(one, takesOptional))
}

function subschemas({ properties, definitions, $defs, items, anyOf, oneOf }: JsonSchema): unknown[] {
  return [properties, definitions, $defs, anyOf, oneOf, items === undefined ? undefined : [items]].flatMap((of) =>
    Object.values(of ?? {}),
  )
}

/** Strict mode has `anyOf` in place of `oneOf`. The answer is checked against the whole schema anyway. */
function closed({ oneOf, ...schema }: JsonSchema): JsonSchema {
  const result: JsonSchema = { ...schema }
  const { anyOf = oneOf, items } = schema
  for (const key of ['properties', 'definitions', '$defs'])
    if (isRecord(schema[key]))
      result[key] = Object.fromEntries(Object.entries(schema[key]).map(([name, one]) => [name, closed(one as never)]))
  if (Array.isArray(anyOf)) result.anyOf = anyOf.map(closed)
  if (items !== undefined) result.items = closed(items as JsonSchema)
  if (schema.properties !== undefined) result.additionalProperties = false
  return result
}

function hasType(type: unknown, name: string): boolean {
  return type === name || isIn(type, name)
}

function isIn(list: unknown, name: string): boolean {
  return Array.isArray(list) && list.includes(name)
}
