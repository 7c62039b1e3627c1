import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { base64Of, bytesOf } from './base64.ts'
import { isPlainObject } from './json.ts'
import { classOf } from './to-plain.ts'

/**
 * Serializes a value as JSON text that {@link fromJson} restores exactly: plain objects and lists, bytes, URLs, dates, maps, sets,
 * bigints, NaN, ±Infinity and -0. Like JSON, it omits undefined fields. Stores, event logs, journals and cassettes use this format.
 *
 * @param blobOf called with each text, and with each object that is neither plain nor an array. Returns a reference to write in place of
 * the value, or undefined to write the value itself
 * @throws AlliumError `state.invalid` for anything else, with the path of the key
 */
export function toJson(value: unknown, blobOf?: (value: string | object) => unknown): string {
  return write(value, { path: [], around: new Set(), blobOf }) ?? 'null'
}

/**
 * Restores a value from the text of {@link toJson}.
 *
 * @param blob returns the value for a reference that `blobOf` returned
 * @throws AlliumError `state.invalid` if `toJson` did not write the text, or if it has a reference and there is no `blob`
 */
export function fromJson(text: string, blob?: (reference: unknown) => unknown): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new AlliumError('state.invalid', 'The text is not JSON: it was cut or changed. Nothing was read.', { cause })
  }
  return text.includes('"$') ? read(value, blob === undefined ? ownTags : { ...ownTags, $blob: blob }) : value
}

type Path = (string | number)[]

interface Writing {
  /** One array for the whole value: each level pushes its key and pops it again. */
  readonly path: Path
  /** The objects that contain the current value, to detect cycles. */
  readonly around: Set<object>
  readonly blobOf: ((value: string | object) => unknown) | undefined
}

/** Maximum nesting depth. */
const deepest = 500

/** Maximum digits of a bigint. The time to parse one grows with the square of its length. */
const mostDigits = 100_000

/** Returns undefined for a value that JSON omits. */
function write(value: unknown, to: Writing): string | undefined {
  if (typeof value === 'string') return reference(value, to) ?? JSON.stringify(value)
  if (typeof value === 'boolean' || value === null) return String(value)
  if (typeof value === 'number') return number(value)
  if (typeof value === 'bigint') return bigint(value, to.path)
  if (value === undefined) return undefined
  const { path, around } = to
  if (typeof value !== 'object') throw invalid(path, describe(value))
  if (around.has(value)) throw invalid(path, 'an object that contains itself')
  if (around.size === deepest) throw invalid(path, `more than ${deepest} objects deep`)
  around.add(value)
  const text = object(value, to)
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

function object(value: object, to: Writing): string {
  if (Array.isArray(value)) return list(value, to)
  if (isPlainObject(value)) return fields(value as Record<string, unknown>, to)
  const blob = reference(value, to)
  if (blob !== undefined) return blob
  // Base64 needs no escaping.
  if (value instanceof Uint8Array) return `{"$bytes":"${base64Of(value)}"}`
  if (value instanceof URL) return tagged('$url', value.href)
  if (value instanceof Date && !Number.isNaN(value.getTime())) return tagged('$date', value.toISOString())
  if (value instanceof Map) return `{"$map":${list([...value].flat(), to)}}`
  if (value instanceof Set) return `{"$set":${list([...value], to)}}`
  throw invalid(to.path, value instanceof Date ? 'an invalid date' : `an object of the class ${classOf(value)}`)
}

function reference(value: string | object, { blobOf }: Writing): string | undefined {
  const blob = blobOf?.(value)
  return blob === undefined ? undefined : `{"$blob":${JSON.stringify(blob)}}`
}

function list(items: readonly unknown[], to: Writing): string {
  let text = ''
  for (let i = 0; i < items.length; i++) {
    to.path.push(i)
    text += `${i === 0 ? '' : ','}${write(items[i], to) ?? 'null'}`
    to.path.pop()
  }
  return `[${text}]`
}

/** Adds another `$` to a key that starts with `$`, so that no value can look like a tag. */
function fields(value: Record<string, unknown>, to: Writing): string {
  let all = ''
  for (const key of Object.keys(value)) {
    to.path.push(key)
    const text = write(value[key], to)
    to.path.pop()
    if (text === undefined) continue
    all += `${all === '' ? '' : ','}${JSON.stringify(key.startsWith('$') ? `$${key}` : key)}:${text}`
  }
  return `{${all}}`
}

function tagged(tag: string, text: string): string {
  return `{"${tag}":${JSON.stringify(text)}}`
}

/** Restores a tagged value, by tag. */
type Tags = Readonly<Record<string, (value: never) => unknown>>

/** Restores tagged values in a parsed value, in arrays in place. `depth` is the current nesting depth. */
function read(value: unknown, tags: Tags, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  // A map or a set is an object and a list, so it counts twice.
  if (depth > 2 * deepest) throw unreadable(`a value more than ${deepest} objects deep`)
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) value[i] = read(item, tags, depth + 1)
    return value
  }
  const own = Object.entries(value)
  const [first] = own
  if (own.length === 1 && first !== undefined && first[0].startsWith('$') && !first[0].startsWith('$$'))
    return untagged(first[0], read(first[1], tags, depth + 1), tags)
  return Object.fromEntries(
    own.map(([key, item]) => [key.startsWith('$$') ? key.slice(1) : key, read(item, tags, depth + 1)]),
  )
}

function untagged(tag: string, value: unknown, tags: Tags): unknown {
  const make = Object.hasOwn(tags, tag) ? tags[tag] : undefined
  if (make === undefined)
    throw unreadable(`a value with the tag ${describe(tag)}, which this version does not know. A newer one wrote it`)
  try {
    return make(value as never)
  } catch (cause) {
    throw unreadable(`the tag ${describe(tag)} with a value of another kind`, cause)
  }
}

function unreadable(what: string, cause?: unknown): AlliumError {
  return new AlliumError('state.invalid', `The text has ${what}. Nothing was read.`, { cause })
}

const ownTags: Tags = {
  $bytes: (text: string) => bytesOf(textIn(text)),
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
    `${at} is ${what}, which cannot be stored. Use JSON, bytes, URLs, dates, maps, sets or bigints.`,
    { details: { key: path.join('.') } },
  )
}
