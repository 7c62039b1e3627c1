import { describe } from '../errors/describe.ts'

/** Describes why a value is not a Standard Schema, and the fix. Returns undefined for a valid one. */
export function schemaFault(value: unknown): string | undefined {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (isObject && '~standard' in value) return undefined
  if (!isObject || typeof value === 'function')
    return `${describe(value)}, and no Standard Schema (zod, valibot, arktype)`
  const { jsonSchema, type, properties } = value as Record<string, unknown>
  if (typeof jsonSchema === 'object' && jsonSchema !== null)
    return 'a schema of the AI SDK, and no Standard Schema: give "jsonSchema: schema.jsonSchema" in its place'
  if (typeof type === 'string' || typeof properties === 'object')
    return 'a JSON Schema, and no Standard Schema: where "jsonSchema" is taken, give it there'
  const fields = Object.entries(value)
  if (fields.length === 0) return 'an object, and no Standard Schema (zod, valibot, arktype)'
  const what = fields.every(([, field]) => schemaFault(field) === undefined) ? 'an object of schemas' : 'an object'
  return `${what}, and no Standard Schema: write z.object({ ${fields.map(([name]) => `${name}: …`).join(', ')} })`
}
