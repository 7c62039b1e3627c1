import { isRecord } from '@allium/core/internal'
import type { JsonSchema } from './strict-schema.ts'

/**
 * Returns the schema of a tool's arguments without `anyOf`, `oneOf`, `allOf` and `$ref` at its root, because OpenAI and Anthropic
 * reject the whole request otherwise. The object has the properties of all variants, and requires those that each of them requires.
 * The arguments are checked against the tool's own schema, so the model gets an error if it mixes variants.
 */
export function objectSchema(schema: JsonSchema): JsonSchema {
  const { $ref, anyOf, oneOf, allOf, ...rest } = schema
  if ($ref === undefined && anyOf === undefined && oneOf === undefined && allOf === undefined) return schema
  return { ...rest, ...fieldsOf(schema, schema) }
}

interface Fields {
  properties: Record<string, unknown>
  required: string[]
}

/** Deep enough for unions of unions. A schema that refers only to itself ends here. */
const deepest = 8

function fieldsOf(root: JsonSchema, schema: unknown, depth = 0): Fields {
  const { $ref, properties, required, anyOf, oneOf, allOf, type = 'object' } = isRecord(schema) ? schema : {}
  if (type !== 'object' || depth > deepest) return { properties: {}, required: [] }
  const inner = (parts: unknown) => listOf(parts).map((part) => fieldsOf(root, part, depth + 1))
  const always: Fields[] = [
    { properties: isRecord(properties) ? properties : {}, required: listOf(required) as string[] },
    ...inner(allOf),
    ...inner(typeof $ref === 'string' ? [resolved(root, $ref)] : undefined),
  ]
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

function resolved(root: JsonSchema, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), root)
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
