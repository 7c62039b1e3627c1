/**
 * A value as plain JSON data: bytes, URLs and bigints become objects with one tag, and an object of one's own that
 * looks like such a tag is wrapped in `$object`. What JSON cannot say, such as functions, is left out.
 */
export function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return { $bytes: toBase64(value) }
  if (value instanceof URL) return { $url: value.href }
  if (typeof value === 'bigint') return { $bigint: String(value) }
  if (Array.isArray(value)) return value.map((item) => toJson(item) ?? null)
  if (typeof value === 'object' && value !== null) return fromObject(value)
  return typeof value === 'function' || typeof value === 'symbol' ? undefined : value
}

/** The value that {@link toJson} was given. A URL that is none any more, because it was scrubbed, stays a text. */
export function fromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromJson)
  if (typeof value !== 'object' || value === null) return value
  const tag = tagOf(value)
  return tag === undefined ? mapValues(value, fromJson) : untag[tag]((value as Record<string, unknown>)[tag])
}

/** Maps every text of JSON data made by {@link toJson}, keys included; bytes stay as they are. */
export function mapTexts<T>(value: T, map: (text: string) => string): T {
  if (typeof value === 'string') return map(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map)) as T
  const tag = tagOf(value)
  if (tag === '$bytes') return value
  const inner = tag === '$object' ? (value as unknown as { $object: object }).$object : value
  const data = Object.fromEntries(Object.entries(inner).map(([key, item]) => [map(key), mapTexts(item, map)]))
  return (tag === '$object' ? { $object: data } : data) as T
}

const untag = {
  $bytes: (text: unknown) => Uint8Array.from(atob(String(text)), (char) => char.charCodeAt(0)),
  $url: (text: unknown) => (URL.canParse(String(text)) ? new URL(String(text)) : text),
  $bigint: (text: unknown) => BigInt(String(text)),
  $object: (value: unknown) => mapValues(value as object, fromJson),
}

function fromObject(value: object): unknown {
  if ('toJSON' in value && typeof value.toJSON === 'function') return toJson(value.toJSON())
  const data = mapValues(value, toJson)
  return tagOf(data) === undefined ? data : { $object: data }
}

function tagOf(value: object): keyof typeof untag | undefined {
  const [key, second] = Object.keys(value)
  return second === undefined && key !== undefined && Object.hasOwn(untag, key)
    ? (key as keyof typeof untag)
    : undefined
}

/** Fields that are undefined are left out, as JSON does; `__proto__` stays a field like any other. */
function mapValues(value: object, map: (item: unknown) => unknown): Record<string, unknown> {
  const entries = Object.entries(value).map(([key, item]) => [key, map(item)] as const)
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined))
}

/** One character for each byte: spreading them into one call would overflow the stack with large files. */
function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
