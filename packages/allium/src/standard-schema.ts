import type { JsonSchema } from '@allium/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { ajvValidate } from './validate.ts'

const validate = ajvValidate()

/** Returns a Standard Schema (https://standardschema.dev) for a JSON Schema. Ajv checks it. */
export function standardSchema(schema: JsonSchema): StandardSchemaV1 {
  return {
    '~standard': {
      version: 1,
      vendor: 'allium',
      async validate(value) {
        const issues = await validate(schema, value)
        return issues.length === 0 ? { value } : { issues }
      },
    },
  }
}
