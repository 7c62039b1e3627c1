import { isRecord } from '@allium/core/internal'
import { hasType, type JsonSchema, mapSchemas, schemasIn } from './schema-parts.ts'

/** The keywords of OpenAI's strict mode (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas). */
const keywords =
  /^(\$ref|\$defs|type|title|description|enum|const|format|properties|required|additionalProperties|items|anyOf|oneOf|pattern|multipleOf|(min|max)(Items|Length)|(exclusiveM|m)(in|ax)imum)$/
const formats = /^(date-time|time|date|duration|email|hostname|ipv4|ipv6|uuid|undefined)$/

/**
 * Returns a schema for a provider's strict mode, which rejects objects that do not forbid other properties. Undefined if strict mode
 * cannot express the schema.
 *
 * @param takesOptional whether objects may have optional properties. OpenAI requires all of them
 */
export function strictSchema(schema: JsonSchema, takesOptional: boolean): JsonSchema | undefined {
  return schema.type === 'object' && isStrict(schema, takesOptional) ? closed(schema) : undefined
}

function isStrict(schema: JsonSchema, takesOptional: boolean): boolean {
  if (!Object.keys(schema).every((key) => keywords.test(key))) return false
  const { type, $ref, anyOf, oneOf, items, properties, required, additionalProperties, pattern, format } = schema
  if ($ref !== undefined) return Object.keys(schema).length === 1
  const variants = anyOf ?? oneOf
  if (type === undefined && variants === undefined) return false
  if (variants !== undefined && (properties !== undefined || (anyOf !== undefined && oneOf !== undefined))) return false
  if (hasType(schema, 'array') && !isRecord(items)) return false
  if (hasType(schema, 'object') && !(isRecord(properties) && (additionalProperties ?? false) === false)) return false
  // Strict mode compiles patterns without lookaround.
  if (/\(\?[^:]/.test(String(pattern)) || !formats.test(String(format))) return false
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  if (!takesOptional && !Object.keys(properties ?? {}).every(isRequired)) return false
  return schemasIn(schema).every((inner) => isStrict(inner, takesOptional))
}

/** Strict mode has `anyOf` in place of `oneOf`. The answer is checked against the whole schema anyway. */
function closed(schema: JsonSchema): JsonSchema {
  const { oneOf, ...rest } = mapSchemas(schema, closed)
  return {
    ...rest,
    ...(oneOf !== undefined && { anyOf: oneOf }),
    ...(schema.properties !== undefined && { additionalProperties: false }),
  }
}
