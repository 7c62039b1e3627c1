/**
 * Returns a deep copy for a layer whose changes must stay invisible: plain objects, arrays, maps, sets, dates, bytes and errors are
 * copied. Objects of other classes (a client, a stream) are shared.
 */
export function copyOf<T>(value: T, seen: Map<unknown, unknown> = new Map()): T {
  if (typeof value !== 'object' || value === null) return value
  if (seen.has(value)) return seen.get(value) as T
  if (value instanceof Date) return new Date(value) as T
  if (value instanceof Uint8Array) return value.slice() as T
  const copy = emptyCopy(value)
  if (copy === undefined) return value
  seen.set(value, copy)
  const items = value as unknown as Iterable<[unknown, unknown]>
  if (Array.isArray(copy)) for (const item of items) copy.push(copyOf(item, seen))
  else if (copy instanceof Set) for (const item of items) copy.add(copyOf(item, seen))
  else if (copy instanceof Map) for (const [key, item] of items) copy.set(copyOf(key, seen), copyOf(item, seen))
  else for (const key of Reflect.ownKeys(value)) define(copy, key, value, seen)
  return copy as T
}

function emptyCopy(value: object): object | undefined {
  if (Array.isArray(value)) return []
  if (value instanceof Map) return new Map()
  if (value instanceof Set) return new Set()
  const prototype: unknown = Object.getPrototypeOf(value)
  const isError = value instanceof Error && !(value instanceof DOMException)
  return isError || prototype === Object.prototype || prototype === null
    ? Object.create(prototype as object)
    : undefined
}

/** Values of symbol keys are markers and are shared. */
function define(copy: object, key: PropertyKey, from: object, seen: Map<unknown, unknown>): void {
  const item: unknown = Reflect.get(from, key)
  const enumerable = Object.prototype.propertyIsEnumerable.call(from, key)
  const value = typeof key === 'symbol' ? item : copyOf(item, seen)
  Object.defineProperty(copy, key, { value, enumerable, writable: true, configurable: true })
}

/** Whether two JSON-like values are equal; an absent field equals an undefined one. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) => sameJson(left[key], right[key]))
}
