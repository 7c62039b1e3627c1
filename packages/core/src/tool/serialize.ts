const maxDepth = 100

/**
 * Any value as a text for the model: JSON where it is JSON, and otherwise the nearest honest thing, always the same
 * for the same value. BigInt, Map, Set, Date, bytes, symbols, cycles and great depth are written, not thrown at;
 * only a getter or `toJSON` of the value itself can throw.
 */
export function serialize(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(plain(value, 0, [])) ?? 'null'
}

function plain(value: unknown, depth: number, path: object[]): unknown {
  switch (typeof value) {
    case 'bigint':
      return value.toString()
    case 'symbol':
      return value.toString()
    case 'function':
      return `[function ${value.name}]`
    case 'undefined':
      return depth === 0 ? null : undefined
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'object':
      return value === null ? null : plainObject(value, depth, path)
    default:
      return value
  }
}

function plainObject(value: object, depth: number, path: object[]): unknown {
  if (path.includes(value)) return '[circular]'
  if (depth >= maxDepth) return '[too deep]'
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function' && !ArrayBuffer.isView(value))
    return plain((value as { toJSON(): unknown }).toJSON(), depth + 1, [...path, value])
  path.push(value)
  try {
    return members(value, depth + 1, path)
  } finally {
    path.pop()
  }
}

function members(value: object, depth: number, path: object[]): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, depth, path) ?? null)
  if (value instanceof Map) return [...value].map((entry) => plain(entry, depth, path))
  if (value instanceof Set) return [...value].map((item) => plain(item, depth, path))
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return `[${value.constructor.name} of ${value.byteLength} bytes]`
  const copy: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(value)) copy[key] = plain((value as Record<string, unknown>)[key], depth, path)
  return copy
}
