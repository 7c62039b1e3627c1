/** Describes where two values differ; undefined if they are equal. Bytes, URLs and own `__proto__` keys count. */
export function difference(actual: unknown, expected: unknown, path = ''): string | undefined {
  if (Object.is(actual, expected)) return undefined
  if (!isObject(actual) || !isObject(expected) || kindOf(actual) !== kindOf(expected))
    return describeDifference(path, actual, expected)
  if (actual instanceof Uint8Array)
    return sameBytes(actual, expected as Uint8Array) ? undefined : describeDifference(path, actual, expected)
  if (actual instanceof URL || actual instanceof Date)
    return textOf(actual) === textOf(expected) ? undefined : describeDifference(path, actual, expected)
  if (actual instanceof Map || actual instanceof Set)
    return difference([...actual], [...(expected as Set<unknown>)], path)
  for (const key of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
    const at = Array.isArray(expected) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    const found = difference(ownValue(actual, key), ownValue(expected, key), at)
    if (found !== undefined) return found
  }
  return undefined
}

/** Formats a value in one line of a message. */
export function show(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (isObject(value) && kindOf(value) !== 'object' && !Array.isArray(value))
    return `${kindOf(value)}(${textOf(value)})`
  const text = typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value, bigintsToo) ?? String(value))
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}

function bigintsToo(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}

function describeDifference(path: string, actual: unknown, expected: unknown): string {
  return `${path === '' ? 'It' : path} is ${show(actual)}, and should be ${show(expected)}.`
}

/** Node's Buffers are compared like other bytes. */
function kindOf(value: object): string {
  if (value instanceof Uint8Array) return 'bytes'
  if (Array.isArray(value)) return 'list'
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype ? 'object' : (value.constructor?.name ?? 'object')
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function textOf(value: object): string {
  if (value instanceof Uint8Array)
    return `${Array.from(value.subarray(0, 64)).join(' ')}${value.length > 64 ? ` … of ${value.length}` : ''}`
  return value instanceof Date ? value.toISOString() : String(value)
}

function ownValue(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
