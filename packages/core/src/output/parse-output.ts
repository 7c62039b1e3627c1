import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import { formatIssues } from '../tool/check-args.ts'
import type { OutputPlan } from './plan.ts'

/** Parses and validates the answer. @throws AlliumError `output.invalid` with the issues and the text */
export async function parseOutput({ schema, wrapped }: OutputPlan, text: string): Promise<unknown> {
  const json = jsonOf(unfenced(text))
  if (json === undefined) throw invalid(text, [{ message: 'it is not JSON' }])
  const value = wrapped ? (json as { value?: unknown } | null)?.value : json
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return result.value
  throw invalid(text, result.issues)
}

/** Returns undefined for a text that is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
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
