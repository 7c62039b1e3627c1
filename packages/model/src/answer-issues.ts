import type { ModelResponse } from '@allium/core'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

type Issues = readonly StandardSchemaV1.Issue[]

/** The issues that a model is told at most. */
const most = 10

/** Whether `{ value }` stands around an answer, as it does around one that is no object in a run with the option `output`. */
export type Envelope = 'never' | 'always' | 'perhaps'

/** What is wrong with an answer; undefined where it fits. Like the run option `output`, it takes JSON in a code fence. */
export async function issuesOf(
  { text, finishReason }: Pick<ModelResponse, 'text' | 'finishReason'>,
  schema: StandardSchemaV1,
  form: 'text' | { envelope: Envelope },
): Promise<Issues | undefined> {
  const issues = form === 'text' ? await ask(schema, text) : await issuesOfJson(text, schema, form.envelope)
  if (issues === undefined || finishReason !== 'length') return issues?.slice(0, most)
  return [...issues.slice(0, most), { message: 'it was cut at its length limit' }]
}

/** Whether the run option `output` asks for `{ value }` instead of what a schema describes: providers take objects alone. */
export function isEnveloped(schema: StandardSchemaV1): boolean {
  const { jsonSchema } = schema['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
  try {
    return jsonSchema !== undefined && jsonSchema.input({ target: 'draft-07' }).type !== 'object'
  } catch {
    return false // no run can ask for it
  }
}

async function issuesOfJson(text: string, schema: StandardSchemaV1, envelope: Envelope): Promise<Issues | undefined> {
  let json: unknown
  try {
    json = JSON.parse(unfenced(text))
  } catch {
    return [{ message: 'it is no JSON' }]
  }
  const { value } = (json ?? {}) as { value?: unknown }
  if (envelope === 'always') return ask(schema, value)
  const issues = await ask(schema, json)
  return issues === undefined || envelope === 'never' || value === undefined ? issues : ask(schema, value)
}

async function ask(schema: StandardSchemaV1, value: unknown): Promise<Issues | undefined> {
  return (await schema['~standard'].validate(value)).issues
}

function unfenced(text: string): string {
  const trimmed = text.trim()
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return trimmed
  return trimmed.slice(trimmed.indexOf('\n') + 1, -3)
}
