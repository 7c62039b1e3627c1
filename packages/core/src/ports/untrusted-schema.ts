import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from './validate.ts'

/** A JSON Schema from an untrusted source, as a Standard Schema whose checks end after a bounded number of steps. */
export interface UntrustedSchema extends StandardSchemaV1 {
  /** Descriptions of the parts that are not checked, for a log. */
  readonly unchecked: readonly string[]
}

/**
 * Reads a JSON Schema from an untrusted source, such as a client's tool. Such a schema never reaches `Validate`, which may run it as
 * code. `untrustedSchema` of `@allium/json-schema` implements it.
 *
 * @throws AlliumError `schema.limits` for a schema that is too large
 */
export type ReadUntrustedSchema = (schema: JsonSchema) => UntrustedSchema
