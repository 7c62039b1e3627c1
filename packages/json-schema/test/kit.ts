import { Budget, BudgetExceeded } from '../src/check/budget.ts'
import { compile } from '../src/check/compile.ts'
import { untrustedSchema } from '../src/index.ts'
import { defaults } from '../src/limits.ts'

export function issuesOf(schema: unknown, value: unknown): readonly { message: string; path?: unknown }[] {
  const result = untrustedSchema(schema as never)['~standard'].validate(value) as { issues?: never[] }
  return result.issues ?? []
}

export function fits(schema: unknown, value: unknown): boolean {
  return issuesOf(schema, value).length === 0
}

export function uncheckedOf(schema: unknown): readonly string[] {
  return untrustedSchema(schema as never).unchecked
}

/** The steps that a check takes, until its end or until it is given up. */
export function stepsOf(schema: unknown, value: unknown): { steps: number; givenUp: boolean } {
  const budget = new Budget(defaults.maxSteps)
  const { check } = compile(schema, { maxSubschemas: defaults.maxSubschemas, hasInnerIds: false })
  try {
    check(value, budget)
    return { steps: budget.used, givenUp: false }
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    return { steps: budget.used, givenUp: true }
  }
}
