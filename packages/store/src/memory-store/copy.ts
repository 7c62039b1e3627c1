/** Copies a value deeply, including bytes. Shares URLs, which are treated as immutable. */
export function ownCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof URL) return value
  if (value instanceof Uint8Array) return value.slice() as T
  if (Array.isArray(value)) return value.map(ownCopy) as T
  if (value instanceof Date) return new Date(value) as T
  if (value instanceof Map) return new Map([...value].map(ownCopy) as [unknown, unknown][]) as T
  if (value instanceof Set) return new Set([...value].map(ownCopy)) as T
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, ownCopy(item)])) as T
}
