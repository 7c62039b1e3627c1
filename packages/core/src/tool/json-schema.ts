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
      `${what} has a schema of "${vendor}", which cannot be converted to JSON Schema. Add "jsonSchema".`,
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

/** Describes why a value is not a Standard Schema, and the fix. Returns undefined for a valid one. */
export function schemaFault(value: unknown): string | undefined {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (isObject && '~standard' in value) return undefined
  if (!isObject || typeof value === 'function')
    return `${describe(value)}, and no Standard Schema (zod, valibot, arktype)`
  const { jsonSchema, type, properties } = value as Record<string, unknown>
  if (typeof jsonSchema === 'object' && jsonSchema !== null)
    return 'a schema of the AI SDK, and no Standard Schema: give "jsonSchema: schema.jsonSchema" in its place'
  if (typeof type === 'string' || typeof properties === 'object')
    return 'a JSON Schema, and no Standard Schema: where "jsonSchema" is taken, give it there'
  const fields = Object.entries(value)
  if (fields.length === 0) return 'an object, and no Standard Schema (zod, valibot, arktype)'
  const what = fields.every(([, field]) => schemaFault(field) === undefined) ? 'an object of schemas' : 'an object'
  return `${what}, and no Standard Schema: write z.object({ ${fields.map(([name]) => `${name}: …`).join(', ')} })`
}
