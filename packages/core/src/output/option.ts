import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from '../ports/validate.ts'
import { jsonSchemaOf } from '../tool/json-schema.ts'

/** Returns the JSON Schema of the answer, for any strategy. @throws AlliumError `run.options` */
export function formOf(option: OutputOption): JsonSchema {
  return jsonSchemaOf(isSchema(option) ? option : option.schema, 'The option output')
}

export function isSchema(value: unknown): value is StandardSchemaV1 {
  return isObject(value) && '~standard' in value
}

export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

/**
 * How the answer is made to fit a schema. `native` uses the provider's JSON mode. With `tool`, the model answers by calling a tool
 * with this schema. With `final`, the loop runs freely, then one more call converts the answer. `auto` is `native` without tools and
 * `tool` with them.
 */
export type OutputStrategy = 'auto' | 'native' | 'tool' | 'final'

/** The schema of a run's answer: a Standard Schema, or one with a strategy. */
export type OutputOption<Schema extends StandardSchemaV1 = StandardSchemaV1> =
  | Schema
  | {
      schema: Schema
      /** @default 'auto' */
      strategy?: OutputStrategy
      /** The name of the format for the provider and the model. @default 'answer' */
      name?: string
      description?: string
    }

/** The type of a result's `output`, from the option. */
export type OutputOf<O> = O extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<O>
  : O extends { schema: infer Schema extends StandardSchemaV1 }
    ? StandardSchemaV1.InferOutput<Schema>
    : string
