import type { Pattern } from '../pattern/pattern.ts'
import type { Budget } from './budget.ts'
import type { JsonObject } from './json.ts'
import type { Verdict } from './verdict.ts'

export type Check = (value: unknown, budget: Budget) => Verdict

/** What a keyword needs to become a check. */
export interface Compiler {
  /** The check of an inner schema. */
  inner(schema: unknown): Check
  /** The check of the schema that a reference leads to; undefined if it leads nowhere inside of this schema. */
  resolve(reference: string): Check | undefined
  /** Undefined for a pattern that cannot be checked, which is noted. */
  pattern(source: string): Pattern | undefined
}

/** The check of a keyword; undefined if its value makes no sense, so that the keyword is not checked. */
export type Keyword = (value: unknown, schema: JsonObject, compiler: Compiler) => Check | undefined

/** It costs a step: a schema may have thousands of `true`. */
export const valid: Check = (_, budget) => {
  budget.consume(1)
  return 'valid'
}
export const unknown: Check = () => 'unknown'

/** A keyword whose value is a whole number that is not negative. */
export function countKeyword(makeCheck: (limit: number) => Check): Keyword {
  return (limit) => (typeof limit === 'number' && Number.isInteger(limit) && limit >= 0 ? makeCheck(limit) : undefined)
}
