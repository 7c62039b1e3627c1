import { RE2JS } from 're2js'
import { Budget, BudgetExceeded } from '../../src/json-schema/check/budget.ts'
import { compile } from '../../src/json-schema/check/compile.ts'
import { defaults } from '../../src/json-schema/limits.ts'
import { untrustedSchema } from '../../src/json-schema.ts'

interface Issue {
  readonly message: string
  readonly path?: unknown
}

export async function issuesOf(schema: unknown, value: unknown): Promise<readonly Issue[]> {
  const result = (await untrustedSchema(schema as never))['~standard'].validate(value) as { issues?: Issue[] }
  return result.issues ?? []
}

export async function fits(schema: unknown, value: unknown): Promise<boolean> {
  return (await issuesOf(schema, value)).length === 0
}

export async function uncheckedOf(schema: unknown): Promise<readonly string[]> {
  return (await untrustedSchema(schema as never)).unchecked
}

/** The steps that a check takes, until its end or until it is given up. */
export function stepsOf(schema: unknown, value: unknown): { steps: number; givenUp: boolean } {
  const budget = new Budget(defaults.maxSteps)
  const { check } = compile(schema, { maxSubschemas: defaults.maxSubschemas, hasInnerIds: false, re2: RE2JS })
  try {
    check(value, budget)
    return { steps: budget.used, givenUp: false }
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    return { steps: budget.used, givenUp: true }
  }
}
