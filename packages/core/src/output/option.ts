import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from '../ports/validate.ts'
import { jsonSchemaOf } from '../tool/json-schema.ts'
import { isStandard } from '../tool/standard-schema.ts'

const subject = 'The option output'

/** Returns the JSON Schema of the answer, for any strategy. @throws AlliumError `run.options` */
export function formOf(option: OutputOption): JsonSchema {
  const { schema, jsonSchema } = isStandard(option) ? { schema: option, jsonSchema: undefined } : option
  return (jsonSchema as JsonSchema | undefined) ?? jsonSchemaOf(schema as StandardSchemaV1, subject, 'run.options')
}

/**
 * How the answer is made to fit a schema. `native` uses the provider's JSON mode. With `tool`, the model answers by calling a tool
 * with this schema. With `final`, the loop runs freely, then one more call converts the answer. `auto` is `native` without tools and
 * `tool` with them.
 */
export type OutputStrategy = 'auto' | 'native' | 'tool' | 'final'

/**
 * The schema of a run's answer: a Standard Schema, or `{ schema, jsonSchema }` with a strategy. `jsonSchema` is needed for a schema that
 * cannot return one. Without `schema`, it also checks the answer, by the agent's `validate`.
 */
export type OutputOption<Schema extends StandardSchemaV1 = StandardSchemaV1> =
  | Schema
  | (({ schema: Schema; jsonSchema?: object } | { schema?: undefined; jsonSchema: object }) & {
      /** @default 'auto' */
      strategy?: OutputStrategy
      /** The name of the format for the provider and the model. @default 'answer' */
      name?: string
      description?: string
    })

/** The type of a result's `output`, from the option. */
export type OutputOf<O> = O extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<O>
  : O extends { schema: infer Schema extends StandardSchemaV1 }
    ? StandardSchemaV1.InferOutput<Schema>
    : O extends { jsonSchema: object }
      ? unknown
      : string
