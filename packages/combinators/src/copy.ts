/**
 * A copy to hand to a layer whose changes must not be seen: plain objects, arrays, maps, sets, dates, bytes and errors are
 * new, however deep. Objects of other classes (a client, a stream) are the same.
 */
export function copyOf<T>(value: T, seen: Map<object, unknown> = new Map()): T {
  if (typeof value !== 'object' || value === null) return value
  const known = seen.get(value)
  return (known ?? copyObject(value, seen)) as T
}

function copyObject(value: object, seen: Map<object, unknown>): object {
  const keep = <C extends object>(copy: C): C => {
    seen.set(value, copy)
    return copy
  }
  if (Array.isArray(value)) {
    const copy: unknown[] = keep([])
    for (const item of value) copy.push(copyOf(item, seen))
    return copy
  }
  if (value instanceof Date) return keep(new Date(value))
  if (value instanceof Uint8Array) return keep(value.slice())
  if (value instanceof Map) {
    const copy = keep(new Map<unknown, unknown>())
    for (const [key, item] of value) copy.set(copyOf(key, seen), copyOf(item, seen))
    return copy
  }
  if (value instanceof Set) {
    const copy = keep(new Set<unknown>())
    for (const item of value) copy.add(copyOf(item, seen))
    return copy
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (value instanceof Error && !(value instanceof DOMException))
    return fields(value, keep(Object.create(prototype as object)), seen)
  return prototype === Object.prototype || prototype === null
    ? fields(value, keep(Object.create(prototype)), seen)
    : value
}

function fields(value: object, copy: object, seen: Map<object, unknown>): object {
  for (const [key, own] of Object.entries(Object.getOwnPropertyDescriptors(value)) as [string, PropertyDescriptor][]) {
    const item: unknown = (value as Record<string, unknown>)[key]
    Object.defineProperty(copy, key, {
      value: copyOf(item, seen),
      enumerable: own.enumerable === true,
      writable: true,
      configurable: true,
    })
  }
  for (const key of Object.getOwnPropertySymbols(value))
    Object.defineProperty(copy, key, { value: (value as Record<symbol, unknown>)[key], configurable: true })
  return copy
}

/** Whether two JSON-like values say the same; an absent field equals an undefined one. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) => sameJson(left[key], right[key]))
}
