export interface PlainOptions {
  /** Maps each text and key. @default unchanged */
  text?(text: string): string
  /** Whether the value of a key is hidden. @default none */
  isHidden?(key: string): boolean
  /** The maximum number of entries of a list or an object. @default all */
  maxItems?: number | undefined
}

const maxDepth = 32

/** Returns a deep copy of any value as JSON data. Deterministic; never throws. */
export function toPlainData(value: unknown, options: PlainOptions = {}): unknown {
  return copyOf(value, options, [])
}

/** Returns any value as JSON. Equal values have equal texts, and binary data has only its length. Never throws. */
export function plainJson(value: unknown): string {
  return JSON.stringify(toPlainData(value))
}

/** Returns plain data as JSON with sorted object keys, so that equal values have equal texts. */
export function canonicalJson(plain: unknown): string {
  return JSON.stringify(plain, (_, inner) =>
    typeof inner !== 'object' || inner === null || Array.isArray(inner)
      ? inner
      : Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))),
  )
}

function copyOf(value: unknown, options: PlainOptions, path: readonly object[]): unknown {
  switch (typeof value) {
    case 'string':
      return textOf(value, options)
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'boolean':
      return value
    case 'bigint':
    case 'symbol':
      return textOf(String(value), options)
    case 'function':
      return '[function]'
    case 'object':
      return value === null ? null : objectOf(value, options, path)
    default:
      return null
  }
}

function objectOf(value: object, options: PlainOptions, path: readonly object[]): unknown {
  if (path.includes(value)) return '[circular]'
  if (path.length >= maxDepth) return '[too deep]'
  try {
    return membersOf(value, options, [...path, value])
  } catch {
    return '[unreadable]'
  }
}

function membersOf(value: object, options: PlainOptions, path: readonly object[]): unknown {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if (value instanceof Date) return textOf(value.toJSON() ?? String(value), options)
  if (value instanceof URL) return textOf(urlText(value, options), options)
  if (value instanceof Error) return copyOf({ name: value.name, message: value.message }, options, path)
  if (value instanceof Map || value instanceof Headers) {
    const entries = Array.from(value as Iterable<[unknown, unknown]>).slice(0, options.maxItems)
    return entries.map(([key, item]) => {
      const isHidden = typeof key === 'string' && options.isHidden?.(key) === true
      return [copyOf(key, options, path), isHidden ? '[hidden]' : copyOf(item, options, path)]
    })
  }
  if (Array.isArray(value) || value instanceof Set) {
    const items = Array.from(value as Iterable<unknown>).slice(0, options.maxItems)
    return items.map((item) => copyOf(item, options, path))
  }
  // Reads no hidden field, and creates also a key that would reach the prototype.
  return Object.fromEntries(
    Object.keys(value)
      .slice(0, options.maxItems)
      .flatMap((key) => {
        const isHidden = options.isHidden?.(key) === true
        const field = isHidden ? '[hidden]' : (value as Record<string, unknown>)[key]
        return field === undefined ? [] : [[textOf(key, options), isHidden ? field : copyOf(field, options, path)]]
      }),
  )
}

function urlText(url: URL, { isHidden }: PlainOptions): string {
  const names = [...url.searchParams.keys()].filter((name) => isHidden?.(name))
  if (names.length === 0) return url.href
  const copy = new URL(url)
  for (const name of names) copy.searchParams.set(name, '[hidden]')
  return copy.href
}

function textOf(text: string, { text: mapText }: PlainOptions): string {
  return mapText === undefined ? text : mapText(text)
}
