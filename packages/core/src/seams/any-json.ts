/** A value as JSON, with what JSON has no form for behind keys that begin with NUL; own keys of that kind get another NUL. */
export function encode(value: unknown): string {
  return JSON.stringify(toJson(value)) ?? 'null'
}

export function decode(text: string): unknown {
  return fromJson(JSON.parse(text))
}

function toJson(value: unknown): unknown {
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') return { '\0none': 0 }
  if (typeof value === 'bigint') return { '\0bigint': String(value) }
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return { '\0number': Object.is(value, -0) ? '-0' : String(value) }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(toJson)
  if (value instanceof Uint8Array)
    return { '\0bytes': btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join('')) }
  if (value instanceof URL) return { '\0url': value.href }
  if (value instanceof Date) return { '\0date': value.getTime() }
  if (value instanceof Map) return { '\0map': [...value].map(toJson) }
  if (value instanceof Set) return { '\0set': [...value].map(toJson) }
  if (value instanceof Error) return { '\0error': fields(errorOf(value)) }
  return fields(value)
}

function fields(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key.startsWith('\0') ? `\0${key}` : key, toJson(field)]),
  )
}

function errorOf(error: Error): Record<string, unknown> {
  const { name, message, code, status, isRetryable, expose } = error as Error & Record<string, unknown>
  const told = { name, message, code, status, isRetryable, expose }
  return Object.fromEntries(
    Object.entries(told).filter(([, field]) => field !== undefined && typeof field !== 'object'),
  )
}

function fromJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(fromJson)
  const [tag = '', ...more] = Object.keys(value)
  const made = more.length === 0 && tag.startsWith('\0') && !tag.startsWith('\0\0') ? makers[tag] : undefined
  if (made !== undefined) return made((value as Record<string, unknown>)[tag])
  const copy: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(value))
    Object.defineProperty(copy, key.startsWith('\0') ? key.slice(1) : key, {
      value: fromJson(field),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  return copy
}

const makers: Readonly<Record<string, (given: unknown) => unknown>> = {
  '\0none': () => undefined,
  '\0bigint': (text) => BigInt(text as string),
  '\0number': Number,
  '\0bytes': (base64) => Uint8Array.from(atob(base64 as string), (byte) => byte.charCodeAt(0)),
  '\0url': (href) => new URL(href as string),
  '\0date': (ms) => new Date(ms as number),
  '\0map': (entries) => new Map((entries as unknown[]).map(fromJson) as [unknown, unknown][]),
  '\0set': (items) => new Set((items as unknown[]).map(fromJson)),
  '\0error': (given) => {
    const { message, ...rest } = fromJson(given) as Record<string, unknown>
    return Object.assign(new Error(String(message)), rest)
  },
}
