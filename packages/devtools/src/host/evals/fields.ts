/** Reads fields of a file that any program may have written. A field of another type is as if it were absent. */

const maxText = 20_000
const maxList = 200

type Fields = Readonly<Record<string, unknown>>

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function textOf(value: unknown, length = maxText): string | undefined {
  if (typeof value !== 'string') return undefined
  return value.length > length ? `${value.slice(0, length)}…` : value
}

/** Returns a value of JSON as text. */
export function jsonOf(value: unknown, length = maxText): string {
  return textOf(typeof value === 'string' ? value : JSON.stringify(value), length) ?? ''
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

export function listOf(value: unknown, length = maxList): readonly Fields[] {
  return Array.isArray(value) ? value.slice(0, length).map(fieldsOf) : []
}

export function textsOf(value: unknown, length = 200): string[] {
  return Array.isArray(value) ? value.slice(0, 50).flatMap((one) => textOf(one, length) ?? []) : []
}

/** Returns the entries of a record, such as scores by scorer. */
export function entriesOf(value: unknown, length = 50): [name: string, value: Fields][] {
  return Object.entries(fieldsOf(value))
    .slice(0, length)
    .map(([name, one]) => [name.slice(0, 200), fieldsOf(one)])
}

export function oneOf<T extends string>(value: unknown, names: readonly T[]): T | undefined {
  return names.find((name) => name === value)
}
