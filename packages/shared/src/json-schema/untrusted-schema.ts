import type { JsonSchema } from '@allium/core'
import type { UntrustedSchema } from '@allium/core/internal'
import { Budget, BudgetExceeded } from './check/budget.ts'
import { compile } from './check/compile.ts'
import type { Check } from './check/keyword.ts'
import { type Failure, isFailure } from './check/verdict.ts'
import { defaults, type UntrustedSchemaLimits } from './limits.ts'
import { measure } from './measure.ts'
import { loadRe2 } from './pattern/pattern.ts'
import { removeUnusedDefinitions } from './unused-definitions.ts'

/**
 * Creates a Standard Schema from an untrusted JSON Schema, for example from a client of a server or from an MCP server.
 *
 * A check takes a limited number of steps, so that neither the schema nor the value can block the process. It supports the usual
 * keywords of draft 07 and 2020-12, and patterns that RE2 can match. It does not check the rest, which `unchecked` lists. Use ajv for
 * your own schemas. Its JSON Schema has no definitions that nothing refers to.
 *
 * Imports RE2 with the first schema that has a pattern. If that fails, the schema is refused.
 *
 * @throws AlliumError `schema.limits` for a schema that is too large
 * @example
 * const schema = await untrustedSchema({ type: 'object', properties: { city: { type: 'string', pattern: '^[A-Z]' } } })
 * const { issues } = await schema['~standard'].validate({ city: 'rome' })
 */
export async function untrustedSchema(
  schema: JsonSchema,
  limits: UntrustedSchemaLimits = {},
): Promise<UntrustedSchema> {
  const { maxBytes = defaults.maxBytes, maxDepth = defaults.maxDepth } = limits
  const { maxSubschemas = defaults.maxSubschemas, maxSteps = defaults.maxSteps } = limits
  const { hasInnerIds, hasPatterns } = measure(schema, maxBytes, maxDepth)
  const ownSchema: unknown = structuredClone(schema)
  removeUnusedDefinitions(ownSchema)
  const { check, unchecked } = compile(ownSchema, {
    maxSubschemas,
    hasInnerIds,
    re2: hasPatterns ? await loadRe2() : undefined,
  })
  const json = { input: () => ownSchema as JsonSchema, output: () => ownSchema as JsonSchema }
  const validate = (value: unknown) => {
    const failed = failureOf(check, value, maxSteps)
    // Returns a copy, as library schemas do, because the caller may change it.
    return failed === undefined
      ? { value: structuredClone(value) }
      : { issues: [{ ...failed, path: [...failed.path] }] }
  }
  return { '~standard': { version: 1, vendor: 'allium', validate, jsonSchema: json } as never, unchecked }
}

function failureOf(check: Check, value: unknown, maxSteps: number): Failure | undefined {
  try {
    const verdict = check(value, new Budget(maxSteps))
    return isFailure(verdict) ? verdict : undefined
  } catch (error) {
    if (error instanceof BudgetExceeded) return { message: error.message, path: [] }
    throw error
  }
}
