import { fail } from '../http/problem.ts'
import { type AskedOutput, askedOutput } from '../run/asked-output.ts'

/** The form of an answer that a client of OpenAI's API asks for, as it has to be told again. */
export interface AskedFormat {
  readonly type: 'json_schema'
  readonly name: string
  readonly description: string | null
  readonly schema: AskedOutput
  readonly strict: boolean
}

/**
 * `response_format.json_schema` of Chat Completions, or `text.format` of Responses. Undefined for what asks for no schema.
 *
 * @throws AlliumError `request.invalid`
 */
export function askedFormat(format: unknown, field: string): AskedFormat | undefined {
  const { type, json_schema: inner } = (format ?? {}) as Record<string, unknown>
  if (type !== 'json_schema') return undefined
  const { name, description, schema: given, strict } = (inner ?? format) as Record<string, unknown>
  const schema = askedOutput(given, `${field}.schema`)
  if (schema === undefined || typeof name !== 'string')
    throw fail('request.invalid', `The field \`${field}\` has a name and a JSON Schema.`)
  return {
    type,
    name,
    description: typeof description === 'string' ? description : null,
    schema,
    strict: strict === true,
  }
}
