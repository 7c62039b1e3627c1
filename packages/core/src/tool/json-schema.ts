import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import { describe, messageOf } from '../errors/describe.ts'
import type { JsonSchema } from '../ports/validate.ts'

interface WithJsonSchema {
  jsonSchema?: { input?(options: { target: string }): unknown }
}

/** Returns the JSON Schema of a Standard Schema, through `~standard.jsonSchema` (https://standardschema.dev/json-schema). */
export function jsonSchemaOf(schema: StandardSchemaV1, what: string): JsonSchema {
  const { jsonSchema, vendor } = schema['~standard'] as StandardSchemaV1.Props & WithJsonSchema
  if (typeof jsonSchema?.input !== 'function')
    throw new AlliumError(
      'tool.invalid',
      `${what} has a schema of "${vendor}", which cannot be converted to JSON Schema. Use zod 4, or add "jsonSchema".`,
    )
  try {
    const { $schema: _, ...rest } = jsonSchema.input({ target: 'draft-07' }) as JsonSchema
    return rest
  } catch (cause) {
    throw new AlliumError(
      'tool.invalid',
      `${what} has a schema that cannot be converted to JSON Schema: ${messageOf(cause)}. Add "jsonSchema".`,
      { cause },
    )
  }
}

const none = ', and no Standard Schema'
const libraries = ' (zod, valibot, arktype)'

/** Describes why a value is not a Standard Schema, and the fix. Returns undefined for a valid one. */
export function schemaFault(value: unknown): string | undefined {
  if (Object(value) === value && '~standard' in (value as object)) return undefined
  if (typeof value !== 'object' || value === null) return `${describe(value)}${none}${libraries}`
  const { jsonSchema, type, properties, _def } = value as Record<string, unknown>
  if (_def !== undefined) return `a schema of zod 3${none}: update zod`
  if (Object(jsonSchema) === jsonSchema)
    return `a schema of the AI SDK${none}: give "jsonSchema: schema.jsonSchema" in its place`
  if (typeof type === 'string' || typeof properties === 'object') return `a JSON Schema${none}: pass it as "jsonSchema"`
  const fields = Object.keys(value).map((name) => `${name}: …`)
  return `an object${none}${fields.length === 0 ? libraries : `: write z.object({ ${fields.join(', ')} })`}`
}
