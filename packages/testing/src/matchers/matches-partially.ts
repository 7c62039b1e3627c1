/**
 * Whether a value has all expected fields. Other fields may have any value, lists must have the same length, a RegExp is matched with
 * a text, and an object with `asymmetricMatch`, such as `expect.any(Number)`, decides itself.
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

/** Compares dates, URLs and bytes by class and JSON. */
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
