import { isRecord } from '@allium/core/internal'
import { hasType, type JsonSchema, mapSchemas, resolved } from './schema-parts.ts'

/**
 * Returns a schema in a form that all providers accept, of draft 2020-12: tuples are `prefixItems`, lists have `items`, constants have a
 * type, and references point to `$defs`. A reference that points nowhere becomes any value.
 */
export function portableSchema({ $schema, ...given }: JsonSchema): JsonSchema {
  const places = new Map<unknown, string>()
  if (given.$id !== undefined) places.set(given.$id, '#')
  for (const [name, one] of Object.entries(given.$defs ?? {})) if (isRecord(one)) places.set(one.$id, `#/$defs/${name}`)
  const defs = new Map<string, JsonSchema>()

  function portable(schema: JsonSchema): JsonSchema {
    const { $id, $defs: _, definitions, $ref, ...rest } = schema
    const inner = withType(withItems(mapSchemas(rest, portable)))
    if (typeof $ref !== 'string') return inner
    const pointer = places.get($ref) ?? $ref
    const target = resolved(given, pointer)
    if (target === undefined) return inner
    const known = pointer.replace(/^#\/(\$defs|definitions)\//, '')
    const name = /^[\w.-]+$/.test(known) ? known : `at ${pointer}`.replace(/\W/g, '_')
    if (!defs.has(name)) defs.set(name, {}).set(name, portable(target))
    return { $ref: `#/$defs/${name}`, ...inner }
  }
  const root = portable(given)
  return defs.size === 0 ? root : { ...root, $defs: Object.fromEntries(defs) }
}

/** Draft 07 has the schemas of a tuple in `items`. OpenAI and Gemini reject a list without `items`. */
function withItems(schema: JsonSchema): JsonSchema {
  const { items, additionalItems, unevaluatedItems, ...rest } = schema
  if (Array.isArray(items)) return { ...rest, prefixItems: items, items: additionalItems ?? {} }
  if (items !== undefined || !(hasType(schema, 'array') || schema.prefixItems)) return schema
  return { ...rest, items: unevaluatedItems ?? {} }
}

function withType(schema: JsonSchema): JsonSchema {
  const values: unknown[] = Array.isArray(schema.enum) ? schema.enum : [schema.const]
  const type = typeof values[0]
  const isPlain = /string|number|boolean/.test(type) && values.every((value) => typeof value === type)
  return isPlain && schema.type === undefined ? { type, ...schema } : schema
}
