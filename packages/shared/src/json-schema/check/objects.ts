import type { Budget } from './budget.ts'
import { isObject, type JsonObject } from './json.ts'
import { type Check, type Compiler, countKeyword, type Keyword, unknown } from './keyword.ts'
import { at, every, failure, isFailure, type Verdict } from './verdict.ts'

/** Keywords for objects. Only own properties count, whatever their names. */
export const forObjects: Readonly<Record<string, Keyword>> = {
  properties(schemas, _, compiler) {
    if (!isObject(schemas)) return undefined
    const checks = Object.entries(schemas).map(([name, schema]) => [name, compiler.inner(schema)] as const)
    return ofObjects((value, budget) => {
      budget.consume(checks.length)
      return every(checks, ([name, check]) =>
        Object.hasOwn(value, name) ? at(name, check(value[name], budget)) : 'valid',
      )
    })
  },
  patternProperties(schemas, _, compiler) {
    if (!isObject(schemas)) return undefined
    const checks = patternsOf(schemas, compiler).map((pattern) => ({
      ...pattern,
      check: compiler.inner(pattern.schema),
    }))
    return ofObjects((value, budget) => {
      budget.consume(checks.length)
      return every(checks, ({ pattern, check }) => {
        if (pattern === undefined) return 'unknown'
        return every(Object.keys(value), (name) =>
          pattern.test(name, budget) ? at(name, check(value[name], budget)) : 'valid',
        )
      })
    })
  },
  additionalProperties(schema, { properties = {}, patternProperties = {} }, compiler) {
    if (!isObject(properties) || !isObject(patternProperties)) return undefined
    const all = patternsOf(patternProperties, compiler).map(({ pattern }) => pattern)
    const patterns = all.filter((pattern) => pattern !== undefined)
    const isOpen = patterns.length < all.length
    const check = compiler.inner(schema)
    return ofObjects((value, budget) => {
      budget.consume(Object.keys(value).length)
      const more = Object.keys(value).filter((name) => !Object.hasOwn(properties, name))
      return every(more, (name) => {
        if (patterns.some((pattern) => pattern.test(name, budget))) return 'valid'
        const verdict = schema === false ? additional(name) : at(name, check(value[name], budget))
        // An unchecked pattern may be the one that allows the property.
        return isFailure(verdict) && isOpen ? 'unknown' : verdict
      })
    })
  },
  propertyNames(schema, _, compiler) {
    const check = compiler.inner(schema)
    return ofObjects((value, budget) => {
      const names = Object.keys(value)
      budget.consume(names.length)
      return every(names, (name) => {
        const verdict = check(name, budget)
        return isFailure(verdict) ? failure(`property name ${quote(name)} ${verdict.message}`) : verdict
      })
    })
  },
  required(names) {
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) return undefined
    return ofObjects((value, budget) => {
      budget.consume(names.length)
      const missing = names.find((name) => !Object.hasOwn(value, name))
      return missing === undefined ? 'valid' : failure(`must have required property '${missing}'`)
    })
  },
  dependencies,
  dependentRequired: dependencies,
  dependentSchemas: dependencies,
  minProperties: countKeyword((limit) => {
    const failed = failure(`must NOT have fewer than ${limit} properties`)
    return countProperties((count) => (count >= limit ? 'valid' : failed))
  }),
  maxProperties: countKeyword((limit) => {
    const failed = failure(`must NOT have more than ${limit} properties`)
    return countProperties((count) => (count <= limit ? 'valid' : failed))
  }),
}

/** What a property needs, if it is there: other properties, or a schema for the whole object. */
function dependencies(needs: unknown, schema: JsonObject, compiler: Compiler): Check | undefined {
  if (!isObject(needs)) return undefined
  const checks = Object.entries(needs).map(
    ([name, needed]) =>
      [name, Array.isArray(needed) ? forObjects.required?.(needed, schema, compiler) : compiler.inner(needed)] as const,
  )
  return ofObjects((value, budget) => {
    budget.consume(checks.length)
    return every(checks, ([name, check = unknown]) => (Object.hasOwn(value, name) ? check(value, budget) : 'valid'))
  })
}

function patternsOf(schemas: JsonObject, compiler: Compiler) {
  return Object.entries(schemas).map(([source, schema]) => ({ pattern: compiler.pattern(source), schema }))
}

function ofObjects(check: (value: JsonObject, budget: Budget) => Verdict): Check {
  return (value, budget) => (isObject(value) ? check(value, budget) : 'valid')
}

function countProperties(check: (count: number) => Verdict): Check {
  return ofObjects((value, budget) => {
    const { length } = Object.keys(value)
    budget.consume(length / 8)
    return check(length)
  })
}

function additional(name: string): Verdict {
  return failure(`must NOT have additional properties, such as ${quote(name)}`)
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}
