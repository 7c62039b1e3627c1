import type { StandardSchemaV1 } from '@standard-schema/spec'

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
