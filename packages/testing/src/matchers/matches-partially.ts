/**
 * Whether a value has everything that is expected of it. Fields that are not named may be anything, lists are of one
 * length, a RegExp is asked about a text, and what has `asymmetricMatch`, such as `expect.any(Number)`, decides itself.
 */
export function matchesPartially(actual: unknown, expected: unknown): boolean {
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual)
  if (expected instanceof RegExp) return typeof actual === 'string' && actual.search(expected) >= 0
  if (Object.is(actual, expected)) return true
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) return false
  if (Array.isArray(expected)) return Array.isArray(actual) && sameList(actual, expected)
  if (!isPlain(expected)) return isLike(actual, expected)
  return Object.entries(expected).every(([key, value]) =>
    matchesPartially((actual as Record<string, unknown>)[key], value),
  )
}

function sameList(actual: readonly unknown[], expected: readonly unknown[]): boolean {
  return actual.length === expected.length && expected.every((item, i) => matchesPartially(actual[i], item))
}

/** Dates, URLs, bytes: of one kind, and the same as JSON. */
function isLike(actual: object, expected: object): boolean {
  return actual.constructor === expected.constructor && JSON.stringify(actual) === JSON.stringify(expected)
}

function isAsymmetric(value: unknown): value is { asymmetricMatch(other: unknown): boolean } {
  return typeof (value as { asymmetricMatch?: unknown } | null)?.asymmetricMatch === 'function'
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
