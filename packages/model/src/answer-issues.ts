import type { JsonSchema, ModelResponse } from '@allium/core'
import { jsonSchemaOf } from '@allium/core/internal'
import type { StandardSchemaV1 } from '@standard-schema/spec'

type Issues = readonly StandardSchemaV1.Issue[]

/** The maximum number of issues that the model receives, and of characters of each. */
const [maxIssues, maxLength] = [10, 1000]

/** Whether an answer is wrapped in `{ value }`, as the run option `output` does for schemas of non-objects. */
export type Envelope = 'never' | 'always' | 'perhaps'

/** Returns what is wrong with an answer; undefined if it is valid. Like the run option `output`, it accepts JSON in a code fence. */
export async function findIssues(
  { text, finishReason }: Pick<ModelResponse, 'text' | 'finishReason'>,
  schema: StandardSchemaV1,
  format: 'text' | { envelope: Envelope },
): Promise<Issues | undefined> {
  const issues = format === 'text' ? await validate(schema, text) : await findJsonIssues(text, schema, format.envelope)
  if (issues === undefined || finishReason !== 'length') return issues && bounded(issues)
  return [...bounded(issues), { message: 'it was cut at its length limit' }]
}

/** The issues of some libraries hold the value, or functions. */
function bounded(issues: Issues): Issues {
  return issues.slice(0, maxIssues).map(({ message, path = [] }) => ({
    message: String(message).slice(0, maxLength),
    path: path.map((part) => String(typeof part === 'object' ? part.key : part).slice(0, maxLength)),
  }))
}

/**
 * Whether the run option `output` wraps the schema in `{ value }`, because providers only accept objects. Undefined if the schema has no
 * JSON Schema, so that it depends on the one that the run has.
 */
export function needsEnvelope(schema: StandardSchemaV1, jsonSchema: object | undefined): boolean | undefined {
  try {
    return ((jsonSchema as JsonSchema | undefined) ?? jsonSchemaOf(schema, 'schema', 'layer.config')).type !== 'object'
  } catch {
    return undefined
  }
}

async function findJsonIssues(text: string, schema: StandardSchemaV1, envelope: Envelope): Promise<Issues | undefined> {
  let json: unknown
  try {
    json = JSON.parse(stripCodeFence(text))
  } catch {
    return [{ message: 'it is no JSON' }]
  }
  const { value } = (json ?? {}) as { value?: unknown }
  if (envelope === 'always') return validate(schema, value)
  const issues = await validate(schema, json)
  return issues === undefined || envelope === 'never' || value === undefined ? issues : validate(schema, value)
}

async function validate(schema: StandardSchemaV1, value: unknown): Promise<Issues | undefined> {
  return (await schema['~standard'].validate(value)).issues
}

function stripCodeFence(text: string): string {
  const trimmed = text.trim()
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return trimmed
  return trimmed.slice(trimmed.indexOf('\n') + 1, -3)
}
