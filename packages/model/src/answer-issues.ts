import type { ModelResponse } from '@allium/core'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

type Issues = readonly StandardSchemaV1.Issue[]

/** The maximum number of issues that the model receives. */
const maxIssues = 10

/** Whether an answer is wrapped in `{ value }`, as the run option `output` does for schemas of non-objects. */
export type Envelope = 'never' | 'always' | 'perhaps'

/** Returns what is wrong with an answer; undefined if it is valid. Like the run option `output`, it accepts JSON in a code fence. */
export async function findIssues(
  { text, finishReason }: Pick<ModelResponse, 'text' | 'finishReason'>,
  schema: StandardSchemaV1,
  format: 'text' | { envelope: Envelope },
): Promise<Issues | undefined> {
  const issues = format === 'text' ? await validate(schema, text) : await findJsonIssues(text, schema, format.envelope)
  if (issues === undefined || finishReason !== 'length') return issues?.slice(0, maxIssues)
  return [...issues.slice(0, maxIssues), { message: 'it was cut at its length limit' }]
}

/** Whether the run option `output` wraps the schema in `{ value }`, because providers only accept objects. */
export function needsEnvelope(schema: StandardSchemaV1): boolean {
  const { jsonSchema } = schema['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
  try {
    return jsonSchema !== undefined && jsonSchema.input({ target: 'draft-07' }).type !== 'object'
  } catch {
    return false // no run can use it as `output`
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
