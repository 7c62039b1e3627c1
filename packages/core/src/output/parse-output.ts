import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import { formatIssues } from '../tool/check-args.ts'
import type { OutputPlan } from './plan.ts'

/** Parses and validates the answer. @throws AlliumError `output.invalid` with the issues and the text */
export async function parseOutput({ schema, wrapped }: OutputPlan, text: string): Promise<unknown> {
  const json = parseJson(text)
  const value = wrapped ? (json as { value?: unknown } | null)?.value : json
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return result.value
  throw invalid(text, result.issues)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(unfenced(text))
  } catch {
    throw invalid(text, [{ message: 'it is not JSON' }])
  }
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
