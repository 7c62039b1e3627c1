import { mapped, optional, type Schema, text } from './schema.ts'

/** Whether the client prefers a stream, by its header `accept`. A header that is too long or malformed prefers none. */
export const acceptsStream = mapped(optional(text()), prefersStream) as Schema<boolean>

/**
 * Returns whether a client prefers a stream of server-sent events to JSON: https://www.rfc-editor.org/rfc/rfc9110#name-accept. The
 * header must name `text/event-stream` with a weight above 0, and at least that of `application/json`.
 */
function prefersStream(accept: string | undefined): boolean {
  if (accept === 'text/event-stream') return true
  if (accept === undefined || accept.length > longest) return false
  const ranges = accept.split(',').map(rangeOf)
  const stream = weightOf(ranges, 'text/event-stream')
  return stream > 0 && stream >= weightOf(ranges, 'application/json')
}

/** Longest header that is read, in characters. No real client sends a longer one. */
const longest = 4096

interface Range {
  readonly type: string
  readonly weight: number
}

function rangeOf(range: string): Range {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  const q = parameters.find((parameter) => parameter.startsWith('q='))
  return { type, weight: q === undefined ? 1 : quality(q.slice('q='.length)) }
}

/** A malformed weight counts as 0. */
function quality(value: string): number {
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : 0
}

function weightOf(ranges: readonly Range[], mediaType: string): number {
  return Math.max(0, ...ranges.flatMap(({ type, weight }) => (type === mediaType ? [weight] : [])))
}
