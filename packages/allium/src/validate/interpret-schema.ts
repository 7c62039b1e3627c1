import type { JsonSchema } from '@allium/core'
import type { Check, Issue } from './compile-schema.ts'

/** For runtimes without code generation. Interprets the schema for each value, and refuses one that it can only check in part. */
export async function interpretSchema(schema: JsonSchema): Promise<Check> {
  const { untrustedSchema } = await import('@allium/shared/json-schema')
  const { '~standard': interpreter, unchecked } = await untrustedSchema(schema)
  if (unchecked.length > 0)
    throw new TypeError(
      `This runtime compiles no code, and without it a JSON Schema with ${unchecked[0]} cannot be checked. Use a schema of zod, or give new Agent({ validate }) a check of your own.`,
    )
  return (value) => [...((interpreter.validate(value) as { issues?: Issue[] }).issues ?? [])]
}
