import { AlliumError, type ErrorCode, errorCodes, fromJson, isAlliumError, toJson } from '@allium/core'
import { AbandonedError, isPlainObject } from '@allium/core/internal'
import { isBlob } from './blob.ts'

/** The outcome of a step. */
export type StepOutcome = { readonly result: unknown } | { readonly error: unknown }

/** The maximum size of an outcome: 8 MiB. */
const largest = 8 * 1024 * 1024

/**
 * Serializes the outcome of a step for a journal. Results keep JSON values, bytes, URLs, dates, maps, sets and bigints. Any other
 * return value of a tool is stored as its JSON or, failing that, only as its text. Of an error it stores the name, message, code,
 * status, details (if it is Allium's), whether and when it may be retried, and its causes. It stores no other header, no body
 * and no stack.
 *
 * @throws AlliumError `state.invalid` for a result that cannot be serialized, `journal.too_large` for one over 8 MiB
 */
export function encodeOutcome(outcome: StepOutcome): string {
  return checkSize(toJson(stored(outcome)[0]))
}

/** Returns the same as a value that `toJson` takes. Bytes, base64 and data URLs of 4 kB or more do not count toward the limit. */
export function keptOutcome(outcome: StepOutcome): unknown {
  const [value, text] = stored(outcome)
  checkSize(text)
  return value
}

/** Reverses {@link encodeOutcome}. @throws AlliumError `journal.corrupt` */
export function decodeOutcome(text: string): StepOutcome {
  let value: unknown
  try {
    value = fromJson(text)
  } catch {}
  return outcomeIn(value)
}

/** Reverses {@link keptOutcome}. @throws AlliumError `journal.corrupt` */
export function outcomeIn(value: unknown): StepOutcome {
  if (typeof value !== 'object' || value === null)
    throw new AlliumError(
      'journal.corrupt',
      'A recorded step cannot be read: it was truncated or changed, or a newer version wrote it. This run cannot continue. Other runs are not affected.',
    )
  const { result, error }: StoredOutcome = value
  if (error === undefined) return { result }
  return result === undefined
    ? { error: restoredError(error) }
    : { result: { ...(result as object), error: restoredError(error) } }
}

/** Runs work and returns its outcome. */
export async function outcomeOf(work: () => unknown): Promise<StepOutcome> {
  try {
    return { result: await work() }
  } catch (error) {
    return { error }
  }
}

/** Stores the error in a field next to the result, so that no result can look like an error. */
interface StoredOutcome {
  result?: unknown
  error?: unknown
}

/** Skips the encoding if the text is surely small enough, because a character takes at most three bytes. */
function checkSize(text: string): string {
  const bytes = text.length * 3 <= largest ? 0 : new TextEncoder().encode(text).length
  if (bytes <= largest) return text
  throw new AlliumError(
    'journal.too_large',
    `A step has ${bytes} bytes, but a journal stores at most ${largest} per step. Store large data elsewhere, and return a reference to it.`,
    { details: { bytes } },
  )
}

/** Returns the value to store, and its text without blobs. */
function stored(outcome: StepOutcome): [value: StoredOutcome, text: string] {
  const ended = outcome as { readonly result?: unknown; readonly error?: unknown }
  if ('error' in ended) return checked({ error: storedError(ended.error) })
  if (!isToolResult(ended.result)) return checked({ result: ended.result })
  const { error, value, ...result } = ended.result
  const own: StoredOutcome = error === undefined ? { result } : { result, error: storedError(error) }
  for (const form of value === undefined ? [] : [() => value, () => JSON.parse(JSON.stringify(value))])
    try {
      return checked({ ...own, result: { ...result, value: form() } })
    } catch {
      // Without its value, the result keeps its text.
    }
  return checked(own)
}

/** @throws AlliumError `state.invalid` */
function checked(value: StoredOutcome): [StoredOutcome, string] {
  return [value, toJson(value, (inner) => (isBlob(inner) ? 0 : undefined))]
}

function isToolResult(value: unknown): value is { content: unknown; value?: unknown; error?: unknown } {
  return typeof value === 'object' && value !== null && isPlainObject(value) && 'callId' in value && 'content' in value
}

/** The stored fields of an error. */
interface StoredError {
  name?: string
  message: string
  code?: string | number | boolean
  cause?: StoredError
  headers?: Record<string, string>
  details?: unknown
  by?: number | null
  [field: string]: unknown
}

const fields = ['code', 'status', 'statusCode', 'isRetryable', 'retryable', 'expose'] as const

function storedError(error: unknown, depth = 0): StoredError {
  if (!(error instanceof Error)) return { message: String(error) }
  const all = error as unknown as Record<string, unknown>
  const copy: StoredError = { name: error.name, message: error.message }
  for (const field of fields) {
    const value = all[field]
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') copy[field] = value
  }
  const headers = retryHeaders(all)
  if (headers !== undefined) copy.headers = headers
  if (isAlliumError(error)) copy.details = storable(error.details)
  if (error instanceof AbandonedError) copy.by = error.by ?? null
  if (error.cause !== undefined && depth < 5) copy.cause = storedError(error.cause, depth + 1)
  return copy
}

/** Returns the headers that say how long to wait before a retry. No other header is stored. */
function retryHeaders({ headers, responseHeaders, response }: Record<string, unknown>): StoredError['headers'] {
  const found: Record<string, string> = {}
  for (const one of [responseHeaders, headers, (response as { headers?: unknown } | undefined)?.headers])
    for (const name of ['retry-after', 'retry-after-ms']) {
      const value = one instanceof Headers ? one.get(name) : (one as Record<string, unknown> | undefined)?.[name]
      if (typeof value === 'string' || typeof value === 'number') found[name] ??= String(value)
    }
  return Object.keys(found).length === 0 ? undefined : found
}

function storable(details: unknown): unknown {
  try {
    toJson(details)
    return details
  } catch {
    return undefined
  }
}

function restoredError(given: unknown): Error {
  const { name, message, cause: first, details, by, ...rest } = given as StoredError
  const cause = first === undefined ? undefined : restoredError(first)
  if (by !== undefined) return new AbandonedError(by ?? undefined, cause)
  if (name === 'AlliumError' && isCode(rest.code)) {
    const expose = rest.expose === true
    return new AlliumError(rest.code, String(message), { cause, expose, details: details as Record<string, unknown> })
  }
  const error = new Error(String(message), cause === undefined ? undefined : { cause })
  return Object.assign(error, rest, name !== undefined && name !== 'Error' && { name })
}

function isCode(code: unknown): code is ErrorCode {
  return (errorCodes as readonly unknown[]).includes(code)
}
