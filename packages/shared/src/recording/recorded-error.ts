import { AlliumError, type ErrorCode, errorCodes, messageOf } from '@allium/core'
import type { CleanText } from './scrub.ts'
import { mapTexts, toJson } from './tagged-json.ts'

/** An error as data: the fields that retries, fallbacks and messages read. Never its stack or its response. */
export type RecordedError = ErrorFields | { thrown: unknown }

interface ErrorFields {
  name: string
  message: string
  code?: string | number
  type?: string
  status?: number
  statusCode?: number
  retryable?: boolean
  isRetryable?: boolean
  /** Only the headers that say when to retry. */
  headers?: Record<string, string>
  cause?: RecordedError
}

const keptFields = ['code', 'type', 'status', 'statusCode', 'retryable', 'isRetryable'] as const
const maxCauses = 8

/** Returns an error as data without secrets. A thrown primitive is recorded as it is. */
export function recordError(error: unknown, clean: CleanText, depth = 0): RecordedError {
  if (typeof error !== 'object' || error === null) return { thrown: mapTexts(toJson(error) ?? null, clean) }
  const { name, cause, ...fields } = read(error)
  const data: ErrorFields = { name: clean(String(name ?? 'Error')), message: clean(messageOf(error)) }
  for (const key of keptFields) if (isPlain(fields[key])) Object.assign(data, { [key]: mapTexts(fields[key], clean) })
  const headers = retryHeaders(fields)
  if (headers !== undefined) data.headers = headers
  if (cause !== undefined && depth < maxCauses) data.cause = recordError(cause, clean, depth + 1)
  return data
}

/** Returns the error to throw: an Error with the same name and fields, or an AlliumError if it was one. */
export function reviveError(recorded: RecordedError): unknown {
  if ('thrown' in recorded) return recorded.thrown
  const { name, message, cause, ...fields } = recorded
  const options = cause === undefined ? undefined : { cause: reviveError(cause) }
  if (name === 'AlliumError' && isErrorCode(fields.code)) {
    const { code, ...otherFields } = fields
    return Object.assign(new AlliumError(fields.code, message, options), otherFields)
  }
  const error = Object.assign(new Error(message, options), fields)
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  return error
}

/** Reads each field by name, because some errors have them on the prototype or as getters. */
function read(error: object): Record<string, unknown> {
  const source = error as Record<string, unknown>
  const names = [...keptFields, 'name', 'cause', 'headers', 'responseHeaders', 'response']
  return Object.fromEntries(names.map((key) => [key, source[key]]))
}

function retryHeaders({ headers, responseHeaders, response }: Record<string, unknown>) {
  const all = [headers, responseHeaders, (response as { headers?: unknown } | undefined)?.headers].flatMap(pairsOf)
  const matching = all.filter(([name, value]) => /^retry-after(?:-ms)?$/i.test(name) && isPlain(value))
  return matching.length === 0
    ? undefined
    : Object.fromEntries(matching.map(([name, value]) => [name.toLowerCase(), String(value)]))
}

function pairsOf(headers: unknown): [string, unknown][] {
  if (typeof headers !== 'object' || headers === null) return []
  return headers instanceof Headers ? [...headers] : Object.entries(headers)
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function isErrorCode(code: unknown): code is ErrorCode {
  return (errorCodes as readonly unknown[]).includes(code)
}
