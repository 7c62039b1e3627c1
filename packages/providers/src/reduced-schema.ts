import { objectSchema } from './object-schema.ts'
import { type JsonSchema, mapSchemas } from './schema-parts.ts'

/** The keywords of Gemini (https://ai.google.dev/gemini-api/docs/structured-output#json_schema_support). */
export const ofGemini =
  /^(\$ref|\$defs|type|title|description|enum|const|format|properties|required|additionalProperties|items|anyOf|(min|max)(Items|imum))$/
/** The keywords of Claude's strict mode (https://platform.claude.com/docs/en/build-with-claude/structured-outputs). */
export const ofClaude =
  /^(\$ref|\$defs|type|title|description|enum|const|format|properties|required|additionalProperties|items|anyOf|allOf)$/

/**
 * Returns a schema with these keywords only. It accepts more than before, and the value is checked against the whole schema. The order of
 * a tuple becomes a description.
 */
export function reducedSchema(schema: JsonSchema, keywords: RegExp, root: JsonSchema = schema): JsonSchema {
  const { type = 'object', allOf } = schema
  const isFlat = allOf === undefined || type !== 'object' || keywords.test('allOf')
  const reduced = mapSchemas(isFlat ? schema : objectSchema(schema, root), (inner) =>
    reducedSchema(inner, keywords, root),
  )
  const { $ref, prefixItems, oneOf, enum: values, format } = reduced
  if ($ref !== undefined && schema !== root) return { $ref }
  if (Array.isArray(oneOf)) reduced.anyOf ??= oneOf
  if (Array.isArray(prefixItems) && prefixItems.length > 0) {
    reduced.items = { anyOf: prefixItems }
    reduced.description = `${schema.description ?? ''} In this order: ${JSON.stringify(prefixItems)}`.trim()
  }
  if (keywords === ofGemini) {
    // Gemini's enums have one type, and its strings one format.
    if (Array.isArray(values) && new Set(values.map((value) => typeof value)).size > 1) {
      reduced.anyOf = values.map((value) => ({ enum: [value] }))
      reduced.enum = undefined
    }
    if (type === 'string' && format !== 'date-time') reduced.format = undefined
  }
  return Object.fromEntries(Object.entries(reduced).filter(([key, value]) => value !== undefined && keywords.test(key)))
}
