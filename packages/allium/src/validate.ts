import type { JsonSchema } from '@allium/core'
import type { Validate } from '@allium/core/internal'
import { type Check, compileSchema } from './validate/compile-schema.ts'
import { interpretSchema } from './validate/interpret-schema.ts'

/**
 * Checks values against raw JSON Schemas with ajv, each compiled once. Draft 07 unless `$schema` says 2019-09 or
 * 2020-12. Formats are not checked, unknown keywords are passed over, and it tells the first issue.
 *
 * It is loaded with the first schema, and compiles to code. Where that is forbidden, as on workerd, at other edges and under
 * a strict Content-Security-Policy, `@cfworker/json-schema` reads the schemas in its place: slower, and in other words.
 */
export function ajvValidate(): Validate {
  return validateBy((schema) => (canCompile() ? compileSchema(schema) : interpretSchema(schema)))
}

/** Makes the check of each schema once. A schema that is none is told at each value. */
export function validateBy(makeCheck: (schema: JsonSchema) => Promise<Check>): Validate {
  const checks = new WeakMap<JsonSchema, Check>()
  return (schema, value) => {
    const cached = checks.get(schema)
    if (cached !== undefined) return cached(value)
    return make(schema).then((check) => {
      checks.set(schema, check)
      return check(value)
    })
  }

  async function make(schema: JsonSchema): Promise<Check> {
    // Such a check answers with a promise, which would pass for a yes.
    if (schema.$async !== undefined) throw new TypeError('An asynchronous schema ($async) cannot check arguments.')
    return makeCheck(schema)
  }
}

let canCompileCached: boolean | undefined

/** Whether the runtime makes code from strings. Asked once: a page with a strict policy reports each try. */
function canCompile(): boolean {
  if (canCompileCached === undefined) {
    try {
      new Function('')
      canCompileCached = true
    } catch {
      canCompileCached = false
    }
  }
  return canCompileCached
}
