import { fromJson as read, toJson as write } from '@allium/core'

/**
 * Converts a value to the data that core's `toJson` writes: bytes, URLs, dates and bigints become objects with one tag. Unsupported
 * values, such as functions, are left out. A class instance becomes the result of its `toJSON()`, or its fields.
 */
export function toJson(value: unknown): unknown {
  return JSON.parse(write(plain(value)))
}

/** Returns the value that {@link toJson} received. */
export function fromJson(data: unknown): unknown {
  return read(JSON.stringify(data))
}

/**
 * Maps every text in data of {@link toJson}, including keys; bytes and numbers stay unchanged. A mapped URL, date or bigint that is no
 * longer valid becomes a text.
 */
export function mapTexts<T>(value: T, map: (text: string) => string): T {
  if (typeof value === 'string') return map(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map)) as T
  const tag = tagOf(value)
  return (tag === undefined ? mapFields(value, map) : mapTagged(tag, value as Tagged, map)) as T
}

type Tagged = Record<string, unknown>

function mapTagged(tag: string, value: Tagged, map: (text: string) => string): unknown {
  const inner = value[tag]
  if (tag === '$bytes' || tag === '$number') return value
  if (typeof inner !== 'string') return { [tag]: mapTexts(inner, map) }
  const text = map(inner)
  return text === inner || (tag === '$url' && URL.canParse(text)) ? { [tag]: text } : text
}

function mapFields(value: object, map: (text: string) => string): object {
  const entries = Object.entries(value).map(([key, item]) => [mapKey(key, map), mapTexts(item, map)])
  return Object.fromEntries(entries)
}

/** A user's key that begins with `$` is stored with an additional `$`. */
function mapKey(key: string, map: (text: string) => string): string {
  const text = map(key.startsWith('$$') ? key.slice(1) : key)
  return text.startsWith('$') ? `$${text}` : text
}

function tagOf(value: object): string | undefined {
  const [key, second] = Object.keys(value)
  const isTag = second === undefined && key?.startsWith('$') === true && !key.startsWith('$$')
  return isTag ? key : undefined
}

/** Converts a value for core's `toJson`. */
function plain(value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Uint8Array || value instanceof URL || isDate(value)) return value
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [plain(key), plain(item)]))
  if (value instanceof Set) return new Set([...value].map(plain))
  if ('toJSON' in value && typeof value.toJSON === 'function') return plain(value.toJSON())
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
}

function isDate(value: object): boolean {
  return value instanceof Date && !Number.isNaN(value.getTime())
}
