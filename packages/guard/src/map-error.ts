import { isAlliumError } from '@allium/core'

type MapText = (text: string) => string | Promise<string>

/**
 * What was thrown, an error or not, with its texts mapped: message, stack, fields, causes, the errors of an AggregateError; the
 * same one where nothing changed. Clients of HTTP keep the request that failed on their errors. What is no plain value, or
 * lies too deep, goes: nobody knows what is in it.
 */
export async function mapThrown(thrown: unknown, map: MapText): Promise<unknown> {
  return mapPlain(thrown, map, 6)
}

/** Those of other realms, too. */
function isError(value: object): value is Error {
  return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'
}

async function mapError(error: Error, map: MapText, depth: number): Promise<Error> {
  const { cause = error.cause, errors = (error as AggregateError).errors, ...own } = error as AggregateError
  const message = await map(error.message)
  const stack = error.stack === undefined ? undefined : await map(error.stack)
  const fields = await mapPlain(own, map, depth)
  const mapped = await mapPlain(cause, map, depth - 1)
  const inner = await mapPlain(errors, map, depth - 1)
  const isSame = message === error.message && stack === error.stack && fields === own && mapped === cause
  if (isSame && inner === errors) return error
  const options = mapped === undefined ? {} : { cause: mapped }
  const copy = Array.isArray(inner) ? new AggregateError(inner, message, options) : new Error(message, options)
  if (isAlliumError(error))
    for (const brand of Object.getOwnPropertySymbols(error)) Object.defineProperty(copy, brand, { value: true })
  Object.assign(copy, fields, { message, name: error.name })
  Object.defineProperty(copy, 'stack', { value: stack, configurable: true, writable: true })
  return copy
}

async function mapPlain(value: unknown, map: MapText, depth: number): Promise<unknown> {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null || value instanceof Headers) return value
  if (depth === 0) return undefined
  if (isError(value)) return mapError(value, map, depth)
  if (!Array.isArray(value) && !isPlain(value)) return undefined
  const entries: [string, unknown][] = []
  let changed = false
  for (const [key, one] of Object.entries(value)) {
    const mapped = await mapPlain(one, map, depth - 1)
    changed ||= mapped !== one
    entries.push([key, mapped])
  }
  if (!changed) return value
  return Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries)
}

/** Also one of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
