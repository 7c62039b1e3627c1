import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { messageOf } from '../errors/describe.ts'
import type { JsonSchema } from '../ports/validate.ts'

interface WithJsonSchema {
  jsonSchema?: { input?(options: { target: string }): unknown }
}

/**
 * Returns the JSON Schema of a Standard Schema, through `~standard.jsonSchema` (https://standardschema.dev/json-schema). 2020-12 is
 * the draft that current providers take tuples in, and joi has no other.
 *
 * @throws AlliumError `code` if the schema cannot return it
 */
export function jsonSchemaOf(schema: StandardSchemaV1, what: string, code: ErrorCode): JsonSchema {
  const { jsonSchema, vendor } = schema['~standard'] as StandardSchemaV1.Props & WithJsonSchema
  let cause: unknown
  for (const target of typeof jsonSchema?.input === 'function' ? ['draft-2020-12', 'draft-07'] : []) {
    try {
      const { $schema: _, ...rest }: JsonSchema = Object(jsonSchema?.input?.({ target }))
      return rest
    } catch (error) {
      cause ??= error
    }
  }
  const why = cause === undefined ? '' : `: ${messageOf(cause)}`
  const message = `${what} has a schema of "${vendor}" that cannot be converted to JSON Schema${why}. Add "jsonSchema", such as z.toJSONSchema(schema) for zod/mini.`
  throw new AlliumError(code, message, { cause })
}
