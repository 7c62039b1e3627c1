import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import { messageOf } from '../errors/describe.ts'
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
