import { isEqual, isObject } from './json.ts'
import type { Keyword } from './keyword.ts'
import { failure } from './verdict.ts'

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
}

/** `type`, `enum` and `const`: keywords for values of every type. */
export const forAnyValue: Readonly<Record<string, Keyword>> = {
  type(type, { nullable }) {
    const names: readonly unknown[] = Array.isArray(type) ? type : [type]
    if (!names.every((name): name is string => typeof name === 'string' && Object.hasOwn(types, name))) return undefined
    // OpenAPI 3.0 puts it next to the type, and MCP servers are generated from such documents.
    const tests = [...new Set(names)].map((name) => types[name]).concat(nullable === true ? types.null : [])
    const failed = failure(`must be ${names.join(',')}`)
    return (value) => (tests.some((test) => test?.(value)) ? 'valid' : failed)
  },
  enum(values) {
    if (!Array.isArray(values)) return undefined
    const failed = failure('must be equal to one of the allowed values')
    return (value, budget) => (values.some((option) => isEqual(option, value, budget)) ? 'valid' : failed)
  },
  const(only) {
    const failed = failure('must be equal to constant')
    return (value, budget) => (isEqual(only, value, budget) ? 'valid' : failed)
  },
}
