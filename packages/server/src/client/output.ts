import type { AnyTool } from '@allium/core'
import { parseJsonAnswer } from '../run/run-handle.ts'
import { ClientError } from './http.ts'

type Schema = NonNullable<AnyTool['schema']>

/** A Standard Schema that can return its JSON Schema, such as one of zod 4, or a schema with its `jsonSchema`. */
export type OutputSchema = Schema | { schema: Schema; jsonSchema: object } | { schema?: undefined; jsonSchema: object }

/** Returns the JSON Schema for the server. @throws ClientError `run.options` if the schema cannot return one */
export function toJsonSchema(output: OutputSchema | undefined): unknown {
  if (output === undefined || !('~standard' in output)) return output?.jsonSchema
  const { vendor, jsonSchema } = output['~standard'] as { vendor: string; jsonSchema?: JsonSchemas }
  for (const target of ['draft-2020-12', 'draft-07'])
    try {
      const converted = jsonSchema?.input?.({ target })
      if (converted !== undefined) return converted
    } catch {}
  const message = `The schema of the option output (from "${vendor}") cannot return its JSON Schema. Pass { schema, jsonSchema }.`
  throw new ClientError(message, { code: 'run.options' })
}

/** Returns an answer as parsed by its schema. @throws ClientError `output.invalid` */
export async function outputOf(output: OutputSchema | undefined, text: string): Promise<unknown> {
  if (output === undefined) return text
  const json = parseJsonAnswer(text)
  const schema = '~standard' in output ? output : output.schema
  // The server has checked the answer against the JSON Schema.
  if (schema === undefined) return json
  const { issues, ...validated } = await schema['~standard'].validate(json)
  if (issues === undefined) return (validated as { value: unknown }).value
  const messages = issues
    .slice(0, 10)
    .map(({ message }) => message.slice(0, 1000))
    .join('; ')
  throw new ClientError(`The answer does not fit the schema of the option output: ${messages}.`, {
    code: 'output.invalid',
  })
}

interface JsonSchemas {
  input?(options: { target: string }): unknown
}
