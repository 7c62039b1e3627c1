import { toJson } from '@allium/core'

/** Deeper values may be cyclic. */
const deepest = 20

/**
 * Whether `toJson()` certainly writes the same as `JSON.stringify()`, apart from keys that begin with `$`. This costs a fraction of
 * serializing the value.
 */
export function isPlainJson(value: unknown, depth = 0): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null || value === undefined) return true
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object' || depth === deepest) return false
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return false
  // Unlike Object.values(), this allocates nothing.
  for (const key in value) if (!isPlainJson((value as Record<string, unknown>)[key], depth + 1)) return false
  return true
}

/** Returns the text of `toJson()`. Most events are plain JSON, whose text is written faster and in one piece. */
export function eventText(event: unknown): string {
  const text = isPlainJson(event) && JSON.stringify(event)
  return text && !text.includes('"$') ? text : toJson(event)
}
