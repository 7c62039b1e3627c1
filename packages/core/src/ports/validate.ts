import type { StandardSchemaV1 } from '@standard-schema/spec'

/** A JSON Schema as an object. */
export type JsonSchema = Record<string, unknown>

/** Checks a value against a raw JSON Schema: no issues means valid. The `allium` package uses ajv. Core alone has no check. */
export type Validate = (
  schema: JsonSchema,
  value: unknown,
) => readonly StandardSchemaV1.Issue[] | Promise<readonly StandardSchemaV1.Issue[]>
