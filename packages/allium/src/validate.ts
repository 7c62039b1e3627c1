import { type JsonSchema, type Logger, messageOf } from '@allium/core'
import { consoleLogger, type Validate } from '@allium/core/internal'
import { type Check, compileSchema } from './validate/compile-schema.ts'
import { interpretSchema } from './validate/interpret-schema.ts'

/**
 * Checks values against raw JSON Schemas with ajv, which compiles each schema once. Uses draft 07, unless `$schema` names 2019-09
 * or 2020-12. Does not check formats, ignores unknown keywords, and reports the first issue.
 *
 * Ajv is loaded with the first schema. Where code generation is forbidden, for example on workerd or under a strict
 * Content-Security-Policy, the interpreter of `@allium/shared/json-schema` checks them. It is slower, and refuses a schema that it could only
 * check in part.
 *
 * @param logger gets one warning for each schema of which no check can be made: the model only reads that the arguments could not be
 * checked. @default the console
 */
export function ajvValidate(logger: Logger = consoleLogger): Validate {
  return validateBy((schema) => (canCompile() ? compileSchema(schema) : interpretSchema(schema)), logger)
}

/** Makes the check of each schema once. A schema of which none can be made rejects each value. */
export function validateBy(makeCheck: (schema: JsonSchema) => Promise<Check>, logger: Logger): Validate {
  const checks = new WeakMap<JsonSchema, Check>()
  const reported = new WeakSet<JsonSchema>()
  return (schema, value) => {
    const cached = checks.get(schema)
    if (cached !== undefined) return cached(value)
    return make(schema).then(
      (check) => {
        checks.set(schema, check)
        return check(value)
      },
      (error) => {
        if (!reported.has(schema))
          logger.warn(`A JSON Schema cannot be checked, so it accepts no value: ${messageOf(error)}`, { error })
        reported.add(schema)
        throw error
      },
    )
  }

  async function make(schema: JsonSchema): Promise<Check> {
    // The check would return a promise, which is truthy.
    if (schema.$async !== undefined) throw new TypeError('An asynchronous schema ($async) cannot check arguments.')
    return makeCheck(schema)
  }
}

let canCompileCached: boolean | undefined

/** Whether the runtime can compile code from strings. Tried once, because a page with a strict policy reports each attempt. */
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
