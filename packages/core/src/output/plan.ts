import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { checkOptions, type KeysOf } from '../errors/known-options.ts'
import { jsonOf } from '../messages/json.ts'
import type { Middleware } from '../middleware/middleware.ts'
import type { ResponseFormat, ToolDef } from '../model/model.ts'
import type { JsonSchema } from '../ports/validate.ts'
import { formatIssues } from '../tool/check-args.ts'
import { jsonSchemaOf, schemaFault } from '../tool/json-schema.ts'
import { finalAnswer, toolAnswer } from './answers.ts'
import { isObject, isSchema, type OutputOption, type OutputStrategy } from './option.ts'

/** How one run gets an answer that fits the schema. */
export interface OutputPlan {
  readonly schema: StandardSchemaV1
  readonly responseFormat: ResponseFormat | undefined
  /** The tool that the model answers with. */
  readonly tool: ToolDef | undefined
  /** The layer that turns the model's answer into text, so that the other layers see it as text. */
  readonly layer: Middleware | undefined
  /** Parses and validates the answer. @throws AlliumError `output.invalid` with the issues and the text */
  parse(text: string): Promise<unknown>
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
  // A schema of no object is wrapped in one as `value`, because providers only accept objects.
  const parse = (text: string) => parseOutput(schema, wrapped, text)
  const base = { schema, parse, responseFormat: undefined, tool: undefined, layer: undefined }
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

/** Parses and validates the answer. @throws AlliumError `output.invalid` with the issues and the text */
async function parseOutput(schema: StandardSchemaV1, wrapped: boolean, text: string): Promise<unknown> {
  const json = jsonOf(unfenced(text))
  if (json === undefined) throw invalid(text, [{ message: 'it is not JSON' }])
  const value = wrapped ? (json as { value?: unknown } | null)?.value : json
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return result.value
  throw invalid(text, result.issues)
}

/** Removes a code fence, which models often add to JSON. */
function unfenced(text: string): string {
  const trimmed = text.trim()
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return trimmed
  return trimmed.slice(trimmed.indexOf('\n') + 1, -3)
}

function invalid(text: string, issues: readonly StandardSchemaV1.Issue[]): AlliumError {
  return new AlliumError(
    'output.invalid',
    `The answer does not fit the schema of the option output: ${formatIssues(issues)}. Try { strategy: 'tool' }, or repair it with a layer (model.structured does).`,
    { details: { issues, text } },
  )
}
