import type { Pattern } from '../pattern/pattern.ts'
import type { Budget } from './budget.ts'
import type { JsonObject } from './json.ts'
import type { Verdict } from './verdict.ts'

export type Check = (value: unknown, budget: Budget) => Verdict

/** Compiles the parts of a keyword. */
export interface Compiler {
  /** Returns the check of an inner schema. */
  inner(schema: unknown): Check
  /** Returns the check of a reference's schema; undefined if it is not in this schema. */
  resolve(reference: string): Check | undefined
  /** Returns undefined for a pattern that cannot be checked, which is recorded. */
  pattern(source: string): Pattern | undefined
}

/** Returns the check of a keyword; undefined if its value is invalid, so that the keyword is not checked. */
export type Keyword = (value: unknown, schema: JsonObject, compiler: Compiler) => Check | undefined

/** Costs a step, because a schema may contain `true` thousands of times. */
export const valid: Check = (_, budget) => {
  budget.consume(1)
  return 'valid'
}
export const unknown: Check = () => 'unknown'

/** Creates a keyword whose value is a non-negative integer. */
export function countKeyword(makeCheck: (limit: number) => Check): Keyword {
  return (limit) => (typeof limit === 'number' && Number.isInteger(limit) && limit >= 0 ? makeCheck(limit) : undefined)
}
