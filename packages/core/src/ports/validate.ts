import type { StandardSchemaV1 } from '@standard-schema/spec'

/** A JSON Schema as an object. */
export type JsonSchema = Record<string, unknown>

/** Checks a value against a raw JSON Schema: no issues means valid. The `allium` package uses ajv. Core alone has no check. */
export type Validate = (
  schema: JsonSchema,
  value: unknown,
) => readonly StandardSchemaV1.Issue[] | Promise<readonly StandardSchemaV1.Issue[]>

/** A JSON Schema from an untrusted source, as a Standard Schema whose checks end after a bounded number of steps. */
export interface UntrustedSchema extends StandardSchemaV1 {
  /** Descriptions of the parts that are not checked, for a log. */
  readonly unchecked: readonly string[]
}

/**
 * Reads a JSON Schema from an untrusted source, such as a client's tool. Such a schema never reaches `Validate`, which may run it as
 * code. `untrustedSchema` of `@allium/shared/json-schema` implements it.
 *
 * @throws AlliumError `schema.limits` for a schema that is too large
 */
export type ReadUntrustedSchema = (schema: JsonSchema) => UntrustedSchema | Promise<UntrustedSchema>
