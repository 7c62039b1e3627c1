import type { AlliumError } from '@allium/core'
import { fail } from '../http/problem.ts'

/** The part of a request that a value comes from. */
export type Source = 'body' | 'query' | 'path' | 'header'

/** Where a value is in a request: linked, so that a name is built for errors only. */
export interface Place {
  readonly source: Source
  readonly parent?: Place
  readonly key?: string | number
}

export function inside(parent: Place, key: string | number): Place {
  return { source: parent.source, parent, key }
}

/** Returns the path of a field, such as `decisions.call_1.approve` or `input[0].type`; '' for the whole part. */
export function pathOf({ parent, key }: Place): string {
  if (parent === undefined || key === undefined) return ''
  const before = pathOf(parent)
  if (typeof key === 'number') return `${before}[${key}]`
  const name = /^[\w-]{1,64}$/.test(key) ? key : JSON.stringify(key.slice(0, 60))
  return before === '' ? name : `${before}.${name}`
}

/** The error for a value that its schema rejects. It names the field and the kind of the value, never the value: that may be a secret. */
export function misfit(
  place: Place,
  expected: string,
  given: unknown,
  code: AlliumError['code'] = 'request.invalid',
): AlliumError {
  const subject = subjectOf(place)
  const message =
    given === undefined
      ? `${subject} is missing. It must be ${expected}.`
      : `${subject} must be ${expected}, but got ${kindOf(given)}.`
  return fail(code, message, { field: pathOf(place) })
}

/** The error for a value that is well-formed, but that this server cannot honor. */
export function refused(place: Place, why: string): AlliumError {
  return fail('request.invalid', `${subjectOf(place)} ${why}`, { field: pathOf(place) })
}

export function subjectOf(place: Place): string {
  const path = pathOf(place)
  return path === '' ? wholes[place.source] : `The ${nouns[place.source]} \`${path}\``
}

const wholes = { body: 'The body', query: 'The query', path: 'The path', header: 'The headers' } as const
const nouns = { body: 'field', query: 'query parameter', path: 'path parameter', header: 'header' } as const

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'string') return value === '' ? 'an empty string' : `a string of ${value.length} characters`
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return 'an object'
}
