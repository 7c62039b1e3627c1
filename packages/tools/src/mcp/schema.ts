import type { JsonSchema } from '@allium/core'

/**
 * A server's schema without its patterns, which this process would run: one of thirty letters can keep it busy for ever. What they would
 * have refused is let through.
 *
 * @throws TypeError for one that is nested too deep
 */
export function withoutPatterns(schema: JsonSchema): JsonSchema {
  return schemaOf(schema, 0) as JsonSchema
}

/** Deeper ones overflow the stack of what compiles them. */
const deepest = 100
/** Of these the values are schemas, by any name. */
const maps = new Set(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])
/** Of these the values are data. */
const data = new Set(['default', 'examples', 'enum', 'const'])

/** Also below keywords that nobody knows: a `$ref` may lead there. */
function schemaOf(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > deepest) throw new TypeError(`is nested more than ${deepest} levels deep`)
  if (Array.isArray(value)) return value.map((item) => schemaOf(item, depth + 1))
  const entries = Object.entries(value).filter(([key, item]) => !isPattern(key) && !(isRef(key) && leadsToData(item)))
  const known = entries.map(([key, item]) => [key, data.has(key) ? shallow(item, depth) : inner(key, item, depth + 1)])
  // What the patterns named may not be refused as unknown.
  const isOpen = Object.hasOwn(value, 'patternProperties')
  const closed = new Set(isOpen ? ['additionalProperties', 'unevaluatedProperties'] : [])
  return Object.fromEntries(known.filter(([key]) => !closed.has(key as string)))
}

function inner(key: string, value: unknown, depth: number): unknown {
  if (!maps.has(key) || typeof value !== 'object' || value === null || Array.isArray(value))
    return schemaOf(value, depth)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, schemaOf(item, depth + 1)]))
}

function isPattern(key: string): boolean {
  return key === 'pattern' || key === 'patternProperties'
}

function isRef(key: string): boolean {
  return key === '$ref' || key === '$dynamicRef' || key === '$recursiveRef'
}

/** Whether a JSON Pointer passes through data, where patterns may stand unseen. */
function leadsToData(ref: unknown): boolean {
  if (typeof ref !== 'string') return true
  const pointer = ref.slice(ref.indexOf('#') + 1)
  let isName = false
  for (const segment of pointer.split('/').slice(1)) {
    const key = decoded(segment)
    if (!isName && data.has(key)) return true
    isName = !isName && maps.has(key)
  }
  return false
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return 'default' // leads nowhere
  }
}

/** Data as it is, if it is not too deep. */
function shallow(value: unknown, depth: number): unknown {
  schemaOf(value, depth)
  return value
}
