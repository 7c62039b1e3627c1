import type { AlliumError } from '@allium/core'
import { requestError } from '../http/problem.ts'

/** The part of a request that a value comes from. */
export type Source = 'body' | 'query' | 'path' | 'header'

/** Where a value is in a request. Linked, so that the path is only built for errors. */
export interface ValueLocation {
  readonly source: Source
  readonly parent?: ValueLocation
  readonly key?: string | number
}

export function childLocation(parent: ValueLocation, key: string | number): ValueLocation {
  return { source: parent.source, parent, key }
}

/** Returns the path of a field, such as `decisions.call_1.approve` or `input[0].type`; '' for the whole part. */
export function pathOf({ parent, key }: ValueLocation): string {
  if (parent === undefined || key === undefined) return ''
  const prefix = pathOf(parent)
  if (typeof key === 'number') return `${prefix}[${key}]`
  const name = /^[\w-]{1,64}$/.test(key) ? key : JSON.stringify(key.slice(0, 60))
  return prefix === '' ? name : `${prefix}.${name}`
}

/** Returns the error for an invalid value. It names the field and the kind of the value, never the value, which may be a secret. */
export function violation(
  location: ValueLocation,
  expected: string,
  value: unknown,
  code: AlliumError['code'] = 'request.invalid',
): AlliumError {
  const subject = subjectOf(location)
  const message =
    value === undefined
      ? `${subject} is missing. It must be ${expected}.`
      : `${subject} must be ${expected}, but got ${kindOf(value)}.`
  return requestError(code, message, { field: pathOf(location) })
}

/** Returns the error for a well-formed value that this server does not support. */
export function rejection(location: ValueLocation, reason: string): AlliumError {
  return requestError('request.invalid', `${subjectOf(location)} ${reason}`, { field: pathOf(location) })
}

export function subjectOf(location: ValueLocation): string {
  const path = pathOf(location)
  return path === '' ? partNames[location.source] : `The ${partNouns[location.source]} \`${path}\``
}

const partNames = { body: 'The body', query: 'The query', path: 'The path', header: 'The headers' } as const
const partNouns = { body: 'field', query: 'query parameter', path: 'path parameter', header: 'header' } as const

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'string') return value === '' ? 'an empty string' : `a string of ${value.length} characters`
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return 'an object'
}
