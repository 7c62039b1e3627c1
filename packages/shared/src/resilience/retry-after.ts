import { causes } from './transient.ts'

/**
 * Returns how long the provider asks to wait, in milliseconds, from the headers of a failed call: `retry-after-ms`, or
 * `retry-after` in seconds or as an HTTP date (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after).
 * Undefined for missing or invalid headers.
 */
export function retryAfter(error: unknown, now: number): number | undefined {
  for (const cause of causes(error))
    for (const headers of [cause.responseHeaders, cause.headers, headersOf(cause.response)]) {
      const ms = fromHeaders(headers, now)
      if (ms !== undefined) return ms
    }
  return undefined
}

function fromHeaders(headers: unknown, now: number): number | undefined {
  return (
    nonNegativeNumber(header(headers, 'retry-after-ms')) ?? fromRetryAfterSeconds(header(headers, 'retry-after'), now)
  )
}

function fromRetryAfterSeconds(value: string | undefined, now: number): number | undefined {
  const deltaSeconds = nonNegativeNumber(value)
  if (deltaSeconds !== undefined) return deltaSeconds * 1000
  // Date.parse accepts almost anything, including "-5". An HTTP date ends in GMT.
  const date = value === undefined || !/ GMT$/i.test(value) ? Number.NaN : Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function nonNegativeNumber(value: string | undefined): number | undefined {
  const number = value === undefined || value === '' ? Number.NaN : Number(value)
  return Number.isFinite(number) && number >= 0 ? number : undefined
}

/** Returns one header of a `Headers` object or a plain object, case-insensitively. */
function header(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  const { get } = headers as { get?: unknown }
  const value: unknown =
    typeof get === 'function'
      ? get.call(headers, name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : undefined
}

function headersOf(response: unknown): unknown {
  return typeof response === 'object' && response !== null ? (response as { headers?: unknown }).headers : undefined
}
