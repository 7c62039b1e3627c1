import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { formatIssues } from '../errors/issues.ts'
import { checkOptions, keysOf } from '../errors/known-options.ts'
import { isRecord, jsonOf } from '../messages/json.ts'
import type { Middleware } from '../middleware/middleware.ts'
import type { ResponseFormat, ToolDef } from '../model/model.ts'
import type { JsonSchema, Validate } from '../ports/validate.ts'
import { type CheckedArgs, checkBy } from '../tool/check-args.ts'
import { isStandard, schemaFault } from '../tool/standard-schema.ts'
import type { AnyTool } from '../tool/tool.ts'
import { finalAnswer, toolAnswer } from './answers.ts'
import { formOf, type OutputOption, type OutputStrategy } from './option.ts'

/** How one run gets an answer that fits the schema. */
export interface OutputPlan {
  readonly schema: StandardSchemaV1 | undefined
  readonly responseFormat: ResponseFormat | undefined
  /** The tool that the model answers with. */
  readonly tool: ToolDef | undefined
  /** The layer that turns the model's answer into text, so that the other layers see it as text. */
  readonly layer: Middleware | undefined
  /** Parses and validates the answer. @throws AlliumError `output.invalid` with the issues and the text */
  parse(text: string, validate: Validate | undefined): Promise<unknown>
}

/** Returns the plan for an option. Cached by option. @throws AlliumError `run.options` */
export function outputPlan(option: OutputOption, hasTools: boolean): OutputPlan {
  const made = hasTools ? withTools : withoutTools
  let plan = Object(option) === option ? made.get(option) : undefined
  if (plan === undefined) {
    plan = planOutput(option, hasTools)
    made.set(option, plan)
  }
  return plan
}

const withTools = new WeakMap<object, OutputPlan>()
const withoutTools = new WeakMap<object, OutputPlan>()

const ofOutput = /* @__PURE__ */ keysOf<Exclude<OutputOption, StandardSchemaV1>>()(
  'schema jsonSchema strategy name description',
)

/** @throws AlliumError `run.options` unless it is a schema, or `{ schema, jsonSchema }`, that has a JSON Schema */
function planOutput(option: OutputOption, hasTools: boolean): OutputPlan {
  const isSchema = isStandard(option)
  const form: Exclude<OutputOption, StandardSchemaV1> = isSchema ? { schema: option } : (option ?? {})
  const { schema, strategy = 'auto', name = 'answer', description } = form
  const strategies: readonly string[] = ['auto', 'native', 'tool', 'final'] satisfies OutputStrategy[]
  const fault = faultOf(form, option) ?? (strategies.includes(strategy) ? undefined : describe(strategy))
  if (fault !== undefined)
    throw new AlliumError(
      'run.options',
      `The option output must be a Standard Schema or { schema, jsonSchema, strategy: 'auto' | 'native' | 'tool' | 'final' }, not ${fault}.`,
    )
  if (!isSchema) checkOptions(option, ofOutput, 'The option output', 'run.options')
  const inner = formOf(option)
  const wrapped = inner.type !== 'object'
  const jsonSchema = wrapped ? envelope(inner) : inner
  const format: ResponseFormat = {
    type: 'json',
    schema: jsonSchema,
    name,
    ...(description !== undefined && { description }),
  }
  // A schema of no object is wrapped in one as `value`, because providers only accept objects.
  const parse = (text: string, validate: Validate | undefined) => parseOutput(form, wrapped, text, validate)
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

function faultOf({ schema, jsonSchema }: Partial<AnyTool>, option: unknown): string | undefined {
  if (schema === undefined && isRecord(jsonSchema)) return undefined
  if (jsonSchema !== undefined && !isRecord(jsonSchema)) return `${describe(jsonSchema)} as its jsonSchema`
  return schemaFault(schema ?? option) ?? (schema === null ? 'null' : undefined)
}

/** Wraps a schema. Its definitions move to the root, where references point to. A reference to its own root follows it. */
function envelope(schema: JsonSchema): JsonSchema {
  const moved = JSON.stringify(schema).replace(
    /"\$ref":"#(?!\/\$defs\/)(\/definitions\/)?/g,
    (_, inDefinitions) => `"$ref":"#/$defs/${inDefinitions ? '' : 'answer__'}`,
  )
  const { definitions, $defs, ...answer } = JSON.parse(moved) as Record<string, JsonSchema>
  const isRecursive = moved.includes('"#/$defs/answer__')
  const value = isRecursive ? { $ref: '#/$defs/answer__' } : answer
  const object = { type: 'object', properties: { value }, required: ['value'], additionalProperties: false }
  if (!moved.includes('"$ref"')) return object
  return { ...object, $defs: { ...definitions, ...$defs, ...(isRecursive && { answer__: answer }) } }
}

/** Parses and validates the answer. @throws AlliumError `output.invalid` with the issues and the text */
async function parseOutput(form: Partial<AnyTool>, wrapped: boolean, text: string, validate: Validate | undefined) {
  const json = jsonOf(unfenced(text))
  if (json === undefined) throw invalid(text, { issues: [{ message: 'it is not JSON' }] })
  const checked = await checkBy(form, wrapped ? (json as { value?: unknown } | null)?.value : json, validate)
  if (checked.issues !== undefined) throw invalid(text, checked)
  return checked.value
}

/** Removes a code fence, which models often add to JSON. */
function unfenced(text: string): string {
  const trimmed = text.trim()
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return trimmed
  return trimmed.slice(trimmed.indexOf('\n') + 1, -3)
}

function invalid(text: string, { issues, cause }: Extract<CheckedArgs, { issues: object }>): AlliumError {
  return new AlliumError(
    'output.invalid',
    `The answer does not fit the schema of the option output: ${formatIssues(issues)}. Try { strategy: 'tool' }, or repair it with a layer (model.structured does).`,
    { details: { issues, text }, cause },
  )
}
