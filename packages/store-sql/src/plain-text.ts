import { isBlob } from '@allium/store'

/** Deeper values are left to `toJson()`, which also finds cycles. */
const deepest = 100

/** Whether a value contains nothing that `toJson` writes differently, and no blobs. */
export function isJson(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return !isBlob(value)
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
    case 'object':
      return value === null || (depth < deepest && areItemsJson(value, depth + 1))
    default:
      return false
  }
}

function areItemsJson(value: object, depth: number): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Array.prototype) return (value as unknown[]).every((item) => isJson(item, depth))
  if (prototype !== Object.prototype && prototype !== null) return false
  // Unlike Object.keys(), this allocates nothing.
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key]
    // An undefined field is omitted in both.
    if (key.startsWith('$') || (item !== undefined && !isJson(item, depth))) return false
  }
  return true
}
