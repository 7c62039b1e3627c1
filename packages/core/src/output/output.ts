import type { StandardSchemaV1 } from '@standard-schema/spec'

/**
 * How an answer comes to fit a schema. `native`: the provider keeps to it (its JSON mode). `tool`: the model answers by
 * calling a tool that takes it. `final`: the loop runs freely, then one more call puts its answer into the form.
 * `auto`: `native` without tools, `tool` with them.
 */
export type OutputStrategy = 'auto' | 'native' | 'tool' | 'final'

/** What the answer of a run must be: a Standard Schema, or one with a strategy. */
export type OutputOption<Schema extends StandardSchemaV1 = StandardSchemaV1> =
  | Schema
  | {
      schema: Schema
      /** @default 'auto' */
      strategy?: OutputStrategy
      /** What the provider and the model see as the name of the form. @default 'answer' */
      name?: string
      description?: string
    }

/** The type of a result's `output`, from the option. */
export type OutputOf<O> = O extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<O>
  : O extends { schema: infer Schema extends StandardSchemaV1 }
    ? StandardSchemaV1.InferOutput<Schema>
    : string
