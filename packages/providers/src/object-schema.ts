import { isRecord } from '@allium/core/internal'
import { type JsonSchema, resolved } from './schema-parts.ts'

/**
 * Returns the schema of an object without `anyOf`, `oneOf`, `allOf` and `$ref` at its root, because OpenAI and Anthropic reject a request
 * with such a tool, and Gemini knows no `allOf`. The object has the properties of all variants, and requires those that each of them
 * requires. Values are checked against the whole schema, so the model gets an error if it mixes variants.
 */
export function objectSchema(schema: JsonSchema, root: JsonSchema = schema): JsonSchema {
  const { $ref, anyOf, oneOf, allOf, ...rest } = schema
  // OpenAI rejects arguments without `properties`.
  if (($ref ?? anyOf ?? oneOf ?? allOf) === undefined) return { properties: {}, ...schema }
  return { ...rest, ...fieldsOf(root, schema, new Map()) }
}

interface Fields {
  properties: Record<string, unknown>
  required: string[]
}

/** @param known the fields of each reference, so that the cost is linear and a recursive schema ends */
function fieldsOf(root: JsonSchema, schema: unknown, known: Map<unknown, Fields>): Fields {
  const { $ref, properties, required, anyOf, oneOf, allOf, type = 'object' } = isRecord(schema) ? schema : {}
  if (type !== 'object') return { properties: {}, required: [] }
  const inner = (parts: unknown) => listOf(parts).map((part) => fieldsOf(root, part, known))
  const always: Fields[] = [
    { properties: isRecord(properties) ? properties : {}, required: listOf(required) as string[] },
    ...inner(allOf),
  ]
  if (typeof $ref === 'string') {
    if (!known.has($ref)) {
      known.set($ref, { properties: {}, required: [] })
      known.set($ref, fieldsOf(root, resolved(root, $ref), known))
    }
    always.push(known.get($ref) as Fields)
  }
  const variants = [...inner(anyOf), ...inner(oneOf)].filter((fields) => Object.keys(fields.properties).length > 0)
  const shared = variants
    .map((variant) => variant.required)
    .reduce((a, b) => a.filter((name) => b.includes(name)), variants[0]?.required ?? [])
  return {
    properties: joined([...always, ...variants]),
    required: [...new Set([...always.flatMap((fields) => fields.required), ...shared])],
  }
}

/** A property that variants define differently may have any of these definitions. */
function joined(all: readonly Fields[]): Record<string, unknown> {
  const byName = new Map<string, Map<string, unknown>>()
  for (const { properties } of all)
    for (const [name, one] of Object.entries(properties))
      byName.set(name, (byName.get(name) ?? new Map()).set(JSON.stringify(one), one))
  return Object.fromEntries(
    [...byName].map(([name, forms]) => {
      const [first, ...others] = forms.values()
      return [name, others.length === 0 ? first : { anyOf: [first, ...others] }]
    }),
  )
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
