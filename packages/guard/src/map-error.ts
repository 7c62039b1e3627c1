import { isAlliumError } from '@allium/core'

type MapText = (text: string) => string | Promise<string>

/**
 * An error with its texts mapped, those of its fields and causes included; the same one where nothing changed. Clients of
 * HTTP keep the request that failed on their errors. What is no plain value, or lies too deep, goes: nobody knows what is in it.
 */
export async function mapError(error: Error, map: MapText, depth = 5): Promise<Error> {
  const { cause = error.cause, ...own } = error as Error & Record<string, unknown>
  const message = await map(error.message)
  const fields = await mapPlain(own, map, depth)
  const mapped = await mapPlain(cause, map, depth - 1)
  if (message === error.message && fields === own && mapped === cause) return error
  const copy = new Error(message, mapped === undefined ? {} : { cause: mapped })
  if (isAlliumError(error))
    for (const brand of Object.getOwnPropertySymbols(error)) Object.defineProperty(copy, brand, { value: true })
  return Object.assign(copy, fields, { message, name: error.name })
}

async function mapPlain(value: unknown, map: MapText, depth: number): Promise<unknown> {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null || value instanceof Headers) return value
  if (depth === 0) return undefined
  if (value instanceof Error) return mapError(value, map, depth)
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

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
