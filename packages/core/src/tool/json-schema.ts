import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { describe, messageOf } from '../errors/describe.ts'
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
