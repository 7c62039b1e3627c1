import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { checkOptions, type KeysOf } from '../errors/known-options.ts'
import type { Middleware } from '../middleware/middleware.ts'
import type { ResponseFormat, ToolDef } from '../model/model.ts'
import type { JsonSchema } from '../ports/validate.ts'
import { jsonSchemaOf, schemaFault } from '../tool/json-schema.ts'
import { finalAnswer } from './final-answer.ts'
import { toolAnswer } from './tool-answer.ts'

/** How one run gets an answer that fits the schema. */
export interface OutputPlan {
  readonly schema: StandardSchemaV1
  /** Whether the schema is wrapped in an object as `value`, because providers only accept object schemas. */
  readonly wrapped: boolean
  readonly responseFormat: ResponseFormat | undefined
  /** The tool that the model answers with. */
  readonly tool: ToolDef | undefined
  /** The layer that turns the model's answer into text, so that the other layers see it as text. */
  readonly layer: Middleware | undefined
}

/** Returns the plan for an option. Cached by option. @throws AlliumError `run.options` */
export function outputPlan(option: OutputOption, hasTools: boolean): OutputPlan {
  const made = hasTools ? withTools : withoutTools
  let plan = isObject(option) ? made.get(option) : undefined
  if (plan === undefined) {
    plan = planOutput(option, hasTools)
    made.set(option, plan)
  }
  return plan
}

const withTools = new WeakMap<object, OutputPlan>()
const withoutTools = new WeakMap<object, OutputPlan>()

const ofOutput: KeysOf<Exclude<OutputOption, StandardSchemaV1>> = {
  schema: true,
  strategy: true,
  name: true,
  description: true,
}

/** @throws AlliumError `run.options` unless it is a schema, or `{ schema }`, that converts to JSON Schema */
function planOutput(option: OutputOption, hasTools: boolean): OutputPlan {
  const {
    schema,
    strategy = 'auto',
    name = 'answer',
    description,
  } = isSchema(option) ? { schema: option } : (option ?? {})
  const strategies: readonly string[] = ['auto', 'native', 'tool', 'final'] satisfies OutputStrategy[]
  if (!isSchema(schema) || !strategies.includes(strategy))
    throw new AlliumError(
      'run.options',
      `The option output must be a Standard Schema or { schema, strategy: 'auto' | 'native' | 'tool' | 'final' }, not ${isSchema(schema) ? describe(strategy) : describeOption(option)}.`,
    )
  if (option !== schema) checkOptions(option, ofOutput, 'The option output', 'run.options')
  const inner = jsonSchemaOf(schema, 'The option output')
  const wrapped = inner.type !== 'object'
  const jsonSchema = wrapped ? envelope(inner) : inner
  const format: ResponseFormat = {
    type: 'json',
    schema: jsonSchema,
    name,
    ...(description !== undefined && { description }),
  }
  const base = { schema, wrapped, responseFormat: undefined, tool: undefined, layer: undefined }
  const chosen = strategy === 'auto' ? (hasTools ? 'tool' : 'native') : strategy
  if (chosen === 'native') return { ...base, responseFormat: format }
  if (chosen === 'final') return { ...base, layer: finalAnswer(format) }
  const tool = {
    name,
    description: description ?? 'Gives the final answer. Call it once, when you have it.',
    jsonSchema,
  }
  return { ...base, tool, layer: toolAnswer(name) }
}

/** Returns the JSON Schema of the answer, for any strategy. @throws AlliumError `run.options` */
export function formOf(option: OutputOption): JsonSchema {
  return jsonSchemaOf(isSchema(option) ? option : option.schema, 'The option output')
}

function describeOption(option: unknown): string {
  const { schema } = (isObject(option) ? option : {}) as { schema?: unknown }
  return schemaFault(schema ?? option) ?? describe(option)
}

/** Wraps a schema. Its definitions move to the root, where references point to. A reference to its own root follows it. */
function envelope(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema)
  const moved = text.replace(/"\$ref":"#(?!\/(definitions|\$defs)\/)/g, '"$ref":"#/definitions/answer__')
  const { definitions = {}, $defs = {}, ...answer } = JSON.parse(moved) as Record<string, JsonSchema>
  const own = moved === text ? {} : { answer__: answer }
  const value = moved === text ? answer : { $ref: '#/definitions/answer__' }
  const object = { type: 'object', properties: { value }, required: ['value'], additionalProperties: false }
  return text.includes('"$ref"') ? { ...object, definitions: { ...definitions, ...own }, $defs } : object
}

function isSchema(value: unknown): value is StandardSchemaV1 {
  return isObject(value) && '~standard' in value
}

function isObject(value: unknown): value is object {
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
