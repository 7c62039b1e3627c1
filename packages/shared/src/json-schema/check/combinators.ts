import { type Check, type Compiler, type Keyword, valid } from './keyword.ts'
import { every, failure, isFailure, type Verdict } from './verdict.ts'

/** Keywords that combine schemas, and references. */
export const forSchemas: Readonly<Record<string, Keyword>> = {
  allOf(schemas, _, compiler) {
    const checks = checksOf(schemas, compiler)
    return checks && ((value, budget) => every(checks, (check) => check(value, budget)))
  },
  anyOf(schemas, _, compiler) {
    const checks = checksOf(schemas, compiler)
    return (
      checks &&
      ((value, budget) => {
        let verdict: Verdict = failure('must match a schema in anyOf')
        for (const check of checks) {
          const one = check(value, budget)
          if (one === 'valid') return one
          if (one === 'unknown') verdict = one
        }
        return verdict
      })
    )
  },
  oneOf(schemas, _, compiler) {
    const checks = checksOf(schemas, compiler)
    return checks && ((value, budget) => exactlyOne(checks.map((check) => check(value, budget))))
  },
  not(schema, _, compiler) {
    const check = compiler.inner(schema)
    const failed = failure('must NOT be valid')
    return (value, budget) => {
      const verdict = check(value, budget)
      if (verdict === 'unknown') return verdict
      return verdict === 'valid' ? failed : 'valid'
    }
  },
  if(schema, branches, compiler) {
    const condition = compiler.inner(schema)
    const [onTrue, onFalse] = [branch(branches.then, compiler), branch(branches.else, compiler)]
    return (value, budget) => {
      const verdict = condition(value, budget)
      if (verdict === 'valid') return onTrue(value, budget)
      if (verdict !== 'unknown') return onFalse(value, budget)
      const both = [onTrue(value, budget), onFalse(value, budget)]
      return both.every(isFailure) ? (both[0] as Verdict) : 'unknown'
    }
  },
  $ref(reference, _, compiler) {
    return typeof reference === 'string' ? compiler.resolve(reference) : undefined
  },
}

function exactlyOne(verdicts: readonly Verdict[]): Verdict {
  const definite = verdicts.filter((verdict) => verdict === 'valid').length
  const possible = verdicts.filter((verdict) => !isFailure(verdict)).length
  if (possible === 0 || definite > 1) return failure('must match exactly one schema in oneOf')
  return definite === 1 && possible === 1 ? 'valid' : 'unknown'
}

function checksOf(schemas: unknown, compiler: Compiler): Check[] | undefined {
  return Array.isArray(schemas) ? schemas.map((schema) => compiler.inner(schema)) : undefined
}

function branch(schema: unknown, compiler: Compiler): Check {
  return schema === undefined ? valid : compiler.inner(schema)
}
