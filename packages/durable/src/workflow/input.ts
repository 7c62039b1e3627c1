import { AlliumError, fromJson, messageOf, toJson } from '@allium/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** @throws AlliumError `message.invalid` for a value that cannot be stored, or that a synchronous schema rejects */
export function textOfInput(value: unknown, schema: StandardSchemaV1 | undefined): string {
  const checked = schema?.['~standard'].validate(value)
  if (checked !== undefined && !('then' in checked) && checked.issues !== undefined) throw unfit(checked.issues)
  try {
    return toJson(value)
  } catch (cause) {
    throw invalid(`The input of the workflow cannot be stored. ${messageOf(cause)} Pass plain data.`, cause)
  }
}

/** Parses the input of a run. Text that is no JSON is the input itself. @throws AlliumError `message.invalid` */
export async function valueOfInput(text: string, schema: StandardSchemaV1 | undefined): Promise<unknown> {
  const value = parsed(text)
  if (schema === undefined) return value
  const checked = await schema['~standard'].validate(value)
  if (checked.issues !== undefined) throw unfit(checked.issues)
  return checked.value
}

function parsed(text: string): unknown {
  try {
    return fromJson(text)
  } catch {
    return text
  }
}

function unfit(issues: readonly StandardSchemaV1.Issue[]): AlliumError {
  const first = issues.slice(0, 5).map(({ path = [], message }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part))
    return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
  })
  return invalid(`The input does not fit the schema of the workflow: ${first.join('; ')}.`)
}

function invalid(message: string, cause?: unknown): AlliumError {
  return new AlliumError('message.invalid', message, { cause, expose: true })
}
