import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { isPlain } from '../errors/plain.ts'
import { base64Of } from './base64.ts'
import { classOf } from './to-plain.ts'

/**
 * A value as JSON text, from which {@link fromJson} makes the same value again: plain objects and lists, and in them bytes,
 * URLs, dates, maps, sets, bigints, NaN, ±Infinity and -0. An undefined field is left out, as JSON does. Stores, event logs,
 * journals and cassettes keep values in this form.
 *
 * @throws AlliumError `state.invalid` for anything else, with the path of the key
 */
export function toJson(value: unknown): string {
  return write(value, [], new Set()) ?? 'null'
}

/** The value that {@link toJson} was given. @throws AlliumError `state.invalid` where the text is none of its kind */
export function fromJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new AlliumError('state.invalid', 'The text is no JSON: it was cut, or changed. Nothing was read.', { cause })
  }
  return text.includes('"$') ? read(value) : value
}

/** One for the whole value: each level puts its key behind, and takes it away again. */
type Path = (string | number)[]

/** How deep a value may be. */
const deepest = 500

/** How long a bigint may be: reading one takes time that grows with the square of its length. */
const mostDigits = 100_000

/** Undefined for what JSON leaves out. `around` are the objects that the value stands in. */
function write(value: unknown, path: Path, around: Set<object>): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value)
  if (typeof value === 'number') return number(value)
  if (typeof value === 'bigint') return bigint(value, path)
  if (value === undefined) return undefined
  if (typeof value !== 'object') throw invalid(path, describe(value))
  if (around.has(value)) throw invalid(path, 'an object that stands in itself')
  if (around.size === deepest) throw invalid(path, `more than ${deepest} objects deep`)
  around.add(value)
  const text = object(value, path, around)
  around.delete(value)
  return text
}

function bigint(value: bigint, path: Path): string {
  const text = String(value)
  if (text.length > mostDigits) throw invalid(path, `a bigint of more than ${mostDigits} digits`)
  return tagged('$bigint', text)
}

function number(value: number): string {
  if (Object.is(value, -0)) return tagged('$number', '-0')
  return Number.isFinite(value) ? String(value) : tagged('$number', String(value))
}

function object(value: object, path: Path, around: Set<object>): string {
  if (Array.isArray(value)) return list(value, path, around)
  if (isPlain(value)) return fields(value as Record<string, unknown>, path, around)
  if (value instanceof Uint8Array) return tagged('$bytes', base64Of(value))
  if (value instanceof URL) return tagged('$url', value.href)
  if (value instanceof Date && !Number.isNaN(value.getTime())) return tagged('$date', value.toISOString())
  if (value instanceof Map) return `{"$map":${list([...value].flat(), path, around)}}`
  if (value instanceof Set) return `{"$set":${list([...value], path, around)}}`
  throw invalid(path, value instanceof Date ? 'a date that is none' : `an object of the class ${classOf(value)}`)
}

function list(items: readonly unknown[], path: Path, around: Set<object>): string {
  let text = ''
  for (let i = 0; i < items.length; i++) {
    path.push(i)
    text += `${i === 0 ? '' : ','}${write(items[i], path, around) ?? 'null'}`
    path.pop()
  }
  return `[${text}]`
}

/** A key that begins with `$` gets another one, so that no value can pose as a tag. */
function fields(value: Record<string, unknown>, path: Path, around: Set<object>): string {
  let all = ''
  for (const key of Object.keys(value)) {
    path.push(key)
    const text = write(value[key], path, around)
    path.pop()
    if (text === undefined) continue
    all += `${all === '' ? '' : ','}${JSON.stringify(key.startsWith('$') ? `$${key}` : key)}:${text}`
  }
  return `{${all}}`
}

function tagged(tag: keyof typeof tags, text: string): string {
  return `{"${tag}":${JSON.stringify(text)}}`
}

/** Changes what was parsed in place. `depth` is that of the objects around it. */
function read(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  // A map or set is an object and a list.
  if (depth > 2 * deepest) throw unreadable(`a value more than ${deepest} objects deep`)
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) value[i] = read(item, depth + 1)
    return value
  }
  const own = Object.entries(value)
  const [first] = own
  if (own.length === 1 && first !== undefined && first[0].startsWith('$') && !first[0].startsWith('$$'))
    return untagged(first[0], read(first[1], depth + 1))
  return Object.fromEntries(
    own.map(([key, item]) => [key.startsWith('$$') ? key.slice(1) : key, read(item, depth + 1)]),
  )
}

function untagged(tag: string, value: unknown): unknown {
  const make = Object.hasOwn(tags, tag) ? tags[tag as keyof typeof tags] : undefined
  if (make === undefined)
    throw unreadable(
      `a value with the tag ${describe(tag)}, which this version does not know. A newer one has written it`,
    )
  try {
    return make(value as never)
  } catch (cause) {
    throw unreadable(`the tag ${describe(tag)} with a value that is none of its kind`, cause)
  }
}

function unreadable(what: string, cause?: unknown): AlliumError {
  return new AlliumError('state.invalid', `The text has ${what}. Nothing was read.`, { cause })
}

const tags = {
  $bytes: (text: string) => Uint8Array.from(atob(textIn(text)), (char) => char.charCodeAt(0)),
  $url: (text: string) => new URL(textIn(text)),
  $date: (text: string) => new Date(new Date(textIn(text)).toISOString()),
  $bigint: (text: string) => BigInt(matching(text, /^-?\d{1,100000}$/)),
  $number: (text: string) => Number(matching(text, /^(-0|NaN|-?Infinity)$/)),
  $map: (items: unknown[]) => new Map(pairs(listIn(items))),
  $set: (items: unknown[]) => new Set(listIn(items)),
}

function textIn(text: unknown): string {
  if (typeof text === 'string') return text
  throw new TypeError('It is no text.')
}

function matching(text: unknown, pattern: RegExp): string {
  if (pattern.test(textIn(text))) return text as string
  throw new TypeError('It is no such number.')
}

function listIn(items: unknown): unknown[] {
  if (Array.isArray(items)) return items
  throw new TypeError('It is no list.')
}

function pairs(items: readonly unknown[]): [unknown, unknown][] {
  if (items.length % 2 === 1) throw new TypeError('A key has no value.')
  return Array.from({ length: items.length / 2 }, (_, i) => [items[2 * i], items[2 * i + 1]])
}

function invalid(path: Path, what: string): AlliumError {
  const at = path.length === 0 ? 'The value' : `The value of ${describe(path.join('.'))}`
  return new AlliumError(
    'state.invalid',
    `${at} is ${what}, which cannot be kept. Keep plain data: JSON, bytes, URLs, dates, maps, sets, bigints.`,
    { details: { key: path.join('.') } },
  )
}
