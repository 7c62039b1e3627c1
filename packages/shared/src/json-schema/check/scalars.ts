import { characters } from './json.ts'
import { type Check, countKeyword, type Keyword } from './keyword.ts'
import { failure } from './verdict.ts'

/** Keywords for numbers. */
export const forNumbers: Readonly<Record<string, Keyword>> = {
  minimum: compareKeyword('>=', (value, limit) => value >= limit),
  maximum: compareKeyword('<=', (value, limit) => value <= limit),
  exclusiveMinimum: compareKeyword('>', (value, limit) => value > limit),
  exclusiveMaximum: compareKeyword('<', (value, limit) => value < limit),
  multipleOf(step) {
    if (typeof step !== 'number' || !(step > 0)) return undefined
    return ofNumbers((value) => isMultiple(value, step), `must be multiple of ${step}`)
  },
}

/** Keywords for strings. */
export const forStrings: Readonly<Record<string, Keyword>> = {
  minLength: countKeyword((limit) => {
    const failed = failure(`must NOT have fewer than ${limit} characters`)
    return (value, budget) => (typeof value !== 'string' || characters(value, budget) >= limit ? 'valid' : failed)
  }),
  maxLength: countKeyword((limit) => {
    const failed = failure(`must NOT have more than ${limit} characters`)
    return (value, budget) => (typeof value !== 'string' || characters(value, budget) <= limit ? 'valid' : failed)
  }),
  pattern(source, _, compiler) {
    const pattern = typeof source === 'string' ? compiler.pattern(source) : undefined
    if (pattern === undefined) return undefined
    const failed = failure(`must match pattern "${pattern.source.slice(0, 200)}"`)
    return (value, budget) => (typeof value !== 'string' || pattern.test(value, budget) ? 'valid' : failed)
  },
}

function compareKeyword(operator: string, compare: (value: number, limit: number) => boolean): Keyword {
  return (limit) =>
    typeof limit === 'number' ? ofNumbers((value) => compare(value, limit), `must be ${operator} ${limit}`) : undefined
}

function ofNumbers(compare: (value: number) => boolean, message: string): Check {
  const failed = failure(message)
  return (value) => (typeof value !== 'number' || compare(value) ? 'valid' : failed)
}

/** Compares decimals: 0.3 is a multiple of 0.1, although their quotient in floating point is not an integer. */
function isMultiple(value: number, step: number): boolean {
  const rest = Math.abs(value % step)
  const tolerance = Math.min(Math.abs(value) * 2 * Number.EPSILON, step * 1e-9)
  return rest <= tolerance || step - rest <= tolerance
}
