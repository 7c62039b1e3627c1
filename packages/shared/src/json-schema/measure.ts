import { AlliumError } from '@allium/core'

interface Measured {
  /** Whether an inner schema has an `$id`. */
  readonly hasInnerIds: boolean
  /** Whether it may have a pattern. */
  readonly hasPatterns: boolean
}

/** @throws AlliumError `schema.limits` for a schema that is too large or nested too deep */
export function measure(schema: unknown, maxBytes: number, maxDepth: number): Measured {
  let units = 0
  let hasInnerIds = false
  let hasPatterns = false
  const visit = (value: unknown, depth: number): void => {
    if (depth > maxDepth) throw tooDeep(maxDepth)
    units += typeof value === 'string' ? value.length + 2 : 1
    if (units > maxBytes) throw tooLarge(maxBytes)
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) units += key.length + 3
      if (depth > 0 && key === '$id' && typeof inner === 'string' && !inner.startsWith('#')) hasInnerIds = true
      if (key === 'pattern' || key === 'patternProperties') hasPatterns = true
      visit(inner, depth + 1)
    }
  }
  visit(schema, 0)
  // Measured last, when it is known to be small. A UTF-16 unit has up to three bytes.
  if (new TextEncoder().encode(JSON.stringify(schema)).byteLength > maxBytes) throw tooLarge(maxBytes)
  return { hasInnerIds, hasPatterns }
}

function tooLarge(maxBytes: number): AlliumError {
  return new AlliumError('schema.limits', `The JSON Schema has more than ${maxBytes} bytes. Send a smaller one.`)
}

function tooDeep(maxDepth: number): AlliumError {
  return new AlliumError(
    'schema.limits',
    `The JSON Schema is nested more than ${maxDepth} levels deep. Send a flatter one, with $ref where parts repeat.`,
  )
}
