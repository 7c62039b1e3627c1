/**
 * Returns which of two errors to throw: the first, unless the second wraps it as `cause` (or in `errors`). The other one is added to
 * `first.suppressed`, so that an error of a `finally` hides nothing.
 */
export function firstError(first: unknown, second: unknown): unknown {
  if (first === second || carries(second, first)) return second
  if (typeof first === 'object' && first !== null) suppress(first, second)
  return first
}

function suppress(first: object & { suppressed?: unknown }, second: unknown): void {
  if (Array.isArray(first.suppressed)) first.suppressed.push(second)
  else Reflect.defineProperty(first, 'suppressed', { value: [second], writable: true, configurable: true })
}

/** Whether an error wraps another. False if its getters throw. */
function carries(error: unknown, cause: unknown): boolean {
  try {
    return leadsTo(error, cause, 0)
  } catch {
    return false
  }
}

function leadsTo(error: unknown, cause: unknown, depth: number): boolean {
  if (typeof error !== 'object' || error === null || depth > 16) return false
  const { cause: inner, errors } = error as { cause?: unknown; errors?: unknown }
  if (inner !== undefined && (inner === cause || leadsTo(inner, cause, depth + 1))) return true
  return Array.isArray(errors) && errors.some((e) => e === cause || leadsTo(e, cause, depth + 1))
}

/** Whether the call stack overflowed. Then not even a promise can be created. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack')
}
