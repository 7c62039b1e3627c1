import { isAlliumError } from '@allium/core'
import { isPlainObject } from '@allium/core/internal'
import { mapEntries } from './map-json.ts'

type MapText = (text: string) => string | Promise<string>

/**
 * Returns a thrown value with its texts mapped: message, stack, headers, fields, causes and the errors of an AggregateError.
 * Returns the same object if nothing changed. HTTP clients keep the failed request on their errors, so values that are not
 * plain data, or are nested too deep, are removed because their content is unknown.
 */
export async function mapThrown(thrown: unknown, map: MapText): Promise<unknown> {
  return mapPlain(thrown, map, 6)
}

/** Includes errors from other realms. */
function isError(value: object): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'
}

async function mapError(error: Error, map: MapText, depth: number): Promise<Error> {
  const { enumerableFields, hiddenValues } = errorFields(error)
  const specialValues = specialFields.map((key) => readField(error, key))
  const mappedValues: unknown[] = []
  for (const item of specialValues) mappedValues.push(await mapPlain(item, map, depth - 1))
  const fields = await mapPlain(enumerableFields, map, depth)
  const isSame = fields === enumerableFields && mappedValues.every((item, i) => item === specialValues[i])
  if (isSame && (await mapPlain(hiddenValues, map, depth)) === hiddenValues) return error
  const [name, message, stack, cause, errors] = mappedValues
  const options = cause === undefined ? {} : { cause }
  const text = message as string
  const copy = Array.isArray(errors) ? new AggregateError(errors, text, options) : new Error(text, options)
  if (isAlliumError(error))
    for (const brand of Object.getOwnPropertySymbols(error)) Object.defineProperty(copy, brand, { value: true })
  Object.assign(copy, fields, { message, name })
  Object.defineProperty(copy, 'stack', { value: stack, configurable: true, writable: true })
  return copy
}

const specialFields: readonly PropertyKey[] = ['name', 'message', 'stack', 'cause', 'errors']

/**
 * Returns the fields of an error. `hiddenValues` holds the values that a copy never receives: non-enumerable and symbol-keyed
 * fields, and getters of its class.
 */
function errorFields(error: Error): { enumerableFields: Record<string, unknown>; hiddenValues: unknown[] } {
  const enumerableFields: Record<string, unknown> = {}
  const hiddenValues: unknown[] = []
  let holder: object = error
  for (let next = Object.getPrototypeOf(holder); next !== null; next = Object.getPrototypeOf(holder)) {
    for (const key of Reflect.ownKeys(holder)) {
      const { enumerable, get } = Object.getOwnPropertyDescriptor(holder, key) ?? {}
      if (specialFields.includes(key) || (holder !== error && get === undefined)) continue
      if (holder === error && enumerable === true && typeof key === 'string')
        enumerableFields[key] = readField(error, key)
      else hiddenValues.push(readField(error, key))
    }
    holder = next
  }
  return { enumerableFields, hiddenValues }
}

/** A getter that throws has nothing to map. */
function readField(error: Error, key: PropertyKey): unknown {
  try {
    return (error as unknown as Record<PropertyKey, unknown>)[key]
  } catch {
    return undefined
  }
}

async function mapHeaders(headers: Headers, map: MapText): Promise<Headers> {
  const copy = new Headers()
  let changed = false
  for (const [name, value] of headers) {
    const mapped = await map(value)
    changed ||= mapped !== value
    // A replacement may contain characters that are invalid in headers.
    if (mapped === value || isLatin1(mapped)) copy.append(name, mapped)
  }
  return changed ? copy : headers
}

function isLatin1(text: string): boolean {
  return /^[\t\x20-\xff]*$/.test(text)
}

async function mapPlain(value: unknown, map: MapText, depth: number): Promise<unknown> {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Headers) return mapHeaders(value, map)
  if (depth === 0) return undefined
  if (isError(value)) return mapError(value, map, depth)
  if (!Array.isArray(value) && !isPlainObject(value)) return undefined
  return mapEntries(value, (item) => mapPlain(item, map, depth - 1))
}
