import type { AnyTool } from '@allium/core'
import { parseJsonAnswer } from '../run/run-handle.ts'
import { ClientError } from './http.ts'

/** Any Standard Schema that can return its JSON Schema, such as those of zod 4. */
export type OutputSchema = NonNullable<AnyTool['schema']>

/** Returns the JSON Schema for the server. @throws ClientError `run.options` if the schema cannot return one */
export function toJsonSchema(schema: OutputSchema | undefined): unknown {
  if (schema === undefined) return undefined
  const { vendor, jsonSchema } = schema['~standard'] as { vendor: string; jsonSchema?: JsonSchemas }
  const converted = jsonSchema?.input?.({ target: 'draft-07' })
  if (converted !== undefined) return converted
  throw new ClientError(`The schema of the option output (from "${vendor}") cannot return its JSON Schema.`, {
    code: 'run.options',
  })
}

/** Returns an answer as parsed by its schema. @throws ClientError `output.invalid` */
export async function outputOf(schema: OutputSchema | undefined, text: string): Promise<unknown> {
  if (schema === undefined) return text
  const { issues, ...validated } = await schema['~standard'].validate(parseJsonAnswer(text))
  if (issues === undefined) return (validated as { value: unknown }).value
  const messages = issues.map(({ message }) => message).join('; ')
  throw new ClientError(`The answer does not fit the schema of the option output: ${messages}.`, {
    code: 'output.invalid',
  })
}

interface JsonSchemas {
  input?(options: { target: string }): unknown
}
