/** Deeper values may be cyclic. */
const deepest = 20

/** Whether a value is certainly JSON. Most events are, and this costs a fraction of serializing them. */
export function isPlainJson(value: unknown, depth = 0): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || depth === deepest) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype) return false
  return Object.values(value).every((item) => item === undefined || isPlainJson(item, depth + 1))
}
