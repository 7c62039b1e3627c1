import { toJson } from '@allium/core'

/** Deeper values may be cyclic. */
const deepest = 20

/**
 * Returns the text of `toJson()`, faster for a value that is plain JSON, which most events are.
 *
 * @throws AlliumError `state.invalid` if the value cannot be serialized
 */
export function eventText(event: unknown): string {
  return isPlainJson(event) ? JSON.stringify(event) : toJson(event)
}

/** Whether `toJson()` certainly writes the same as `JSON.stringify()`. This costs a fraction of serializing the value. */
export function isPlainJson(value: unknown, depth = 0): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object' || depth === deepest) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Array.prototype) return (value as unknown[]).every((item) => isPlainJson(item, depth + 1))
  if (prototype !== Object.prototype) return false
  // Unlike Object.entries(), this allocates nothing.
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key]
    if (key.startsWith('$') || (item !== undefined && !isPlainJson(item, depth + 1))) return false
  }
  return true
}
