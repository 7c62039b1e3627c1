import type { Budget } from './budget.ts'
import { canonical } from './json.ts'
import { type Check, type Compiler, countKeyword, type Keyword, unknown } from './keyword.ts'
import { at, every, failure, isFailure, type Verdict } from './verdict.ts'

/** Keywords for arrays. In draft 07, `items` with a list and `additionalItems` are what is now `prefixItems` and `items`. */
export const forArrays: Readonly<Record<string, Keyword>> = {
  prefixItems: (schemas, _, compiler) => prefix(schemas, compiler),
  items(items, { prefixItems = [] }, compiler) {
    if (Array.isArray(items)) return prefix(items, compiler)
    return Array.isArray(prefixItems) ? itemsFrom(prefixItems.length, compiler.inner(items)) : undefined
  },
  additionalItems(schema, { items }, compiler) {
    return Array.isArray(items) ? itemsFrom(items.length, compiler.inner(schema)) : () => 'valid'
  },
  contains(schema, { minContains = 1, maxContains = Number.POSITIVE_INFINITY }, compiler) {
    if (typeof minContains !== 'number' || typeof maxContains !== 'number') return undefined
    const check = compiler.inner(schema)
    return ofArrays((value, budget) => {
      budget.consume(value.length)
      const verdicts = value.map((item) => check(item, budget))
      const definite = verdicts.filter((verdict) => verdict === 'valid').length
      const possible = verdicts.filter((verdict) => !isFailure(verdict)).length
      if (possible < minContains) return failure(`must contain at least ${minContains} valid item(s)`)
      if (definite > maxContains) return failure(`must contain at most ${maxContains} valid item(s)`)
      return definite >= minContains && possible <= maxContains ? 'valid' : 'unknown'
    })
  },
  minItems: countKeyword((limit) => {
    const failed = failure(`must NOT have fewer than ${limit} items`)
    return ofArrays(({ length }) => (length >= limit ? 'valid' : failed))
  }),
  maxItems: countKeyword((limit) => {
    const failed = failure(`must NOT have more than ${limit} items`)
    return ofArrays(({ length }) => (length <= limit ? 'valid' : failed))
  }),
  uniqueItems(unique) {
    if (typeof unique !== 'boolean') return undefined
    if (!unique) return () => 'valid'
    const failed = failure('must NOT have duplicate items')
    return ofArrays((value, budget) => {
      const seen = new Set<string>()
      for (const item of value) seen.add(canonical(item, budget))
      return seen.size === value.length ? 'valid' : failed
    })
  },
}

function prefix(schemas: unknown, compiler: Compiler): Check | undefined {
  if (!Array.isArray(schemas)) return undefined
  const checks = schemas.map((schema) => compiler.inner(schema))
  return ofArrays((value, budget) =>
    every(value.slice(0, checks.length).keys(), (i) => at(i, (checks[i] ?? unknown)(value[i], budget))),
  )
}

function itemsFrom(first: number, check: Check): Check {
  return ofArrays((value, budget) => {
    budget.consume(value.length)
    return every(value.keys(), (i) => (i < first ? 'valid' : at(i, check(value[i], budget))))
  })
}

function ofArrays(check: (value: readonly unknown[], budget: Budget) => Verdict): Check {
  return (value, budget) => (Array.isArray(value) ? check(value, budget) : 'valid')
}
