import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe } from '../errors/describe.ts'

/** Whether a value claims to be a Standard Schema. Those of arktype and effect are functions. */
export function isStandard(value: unknown): value is StandardSchemaV1 {
  return Object(value) === value && '~standard' in (value as object)
}

const none = ', and no Standard Schema'
const libraries = ' (zod, valibot, arktype)'

/** Describes why a value is not a Standard Schema, and the fix. Returns undefined for a valid one. */
export function schemaFault(value: unknown): string | undefined {
  if (isStandard(value)) {
    const { vendor, validate } = value['~standard']
    return typeof validate === 'function' ? undefined : `a schema of "${vendor}" without ~standard.validate${none}`
  }
  if (typeof value !== 'object' || value === null) return `${describe(value)}${none}${libraries}`
  const { jsonSchema, type, properties, _def } = value as Record<string, unknown>
  if (_def !== undefined) return `a schema of zod 3${none}: update zod`
  if (Object(jsonSchema) === jsonSchema)
    return `a schema of the AI SDK${none}: give "jsonSchema: schema.jsonSchema" in its place`
  if (typeof type === 'string' || typeof properties === 'object') return `a JSON Schema${none}: pass it as "jsonSchema"`
  const fields = Object.keys(value).map((name) => `${name}: …`)
  return `an object${none}${fields.length === 0 ? libraries : `: write z.object({ ${fields.join(', ')} })`}`
}
