import { misconfigured } from '@allium/core'
import { type Folded, fold } from './fold.ts'

/** A part of a text. */
export interface Span {
  start: number
  end: number
}

/** What a detector found. */
export interface Finding extends Span {
  type: string
  /** What stands there in the original. */
  text: string
}

/** Finds something in texts, by a pattern or a function. It sees texts folded: compatibility forms, digits and dashes of all scripts as their plain ones, without characters that nobody sees. */
export interface DetectorOptions {
  /** What it finds, in lower case: `employee_id`. */
  type: string
  pattern?: RegExp
  find?(text: string): Iterable<Span>
  /** The characters of its longest finding; so much of a stream is kept back. @default 256 */
  longest?: number
}

/** A detector as the guards use it. */
export interface Detector {
  readonly type: string
  readonly longest: number
  /** The first finding that begins at `from` or behind it. */
  find(text: string, from: number): Span | undefined
  /** Matches the end of a text that may grow into a finding, to `$`. @default any `longest` characters */
  readonly tail?: RegExp
  /** Sees texts without case and accents. */
  readonly loose?: boolean
}

/** @throws AlliumError `layer.config` for one without pattern or function */
export function detectorOf(layer: string, { type, pattern, find, longest = 256 }: DetectorOptions): Detector {
  if ((pattern === undefined) === (find === undefined) || !(longest > 0))
    throw misconfigured(layer, `has a detector "${type}", which needs either a pattern or find(text).`)
  if (pattern !== undefined) return patternDetector(type, pattern, longest)
  return {
    type,
    longest,
    find(text, from) {
      let first: Span | undefined
      for (const span of find?.(text) ?? [])
        if (span.start >= from && span.end > span.start && (first === undefined || span.start < first.start))
          first = span
      return first
    },
  }
}

export function patternDetector(type: string, pattern: RegExp, longest: number): Detector {
  const flags = pattern.flags.replace(/[gy]/g, '')
  return {
    type,
    longest,
    find(text, from) {
      const search = new RegExp(pattern.source, `${flags}g`)
      search.lastIndex = from
      for (let match = search.exec(text); match !== null; match = search.exec(text)) {
        if (match[0] !== '') return { start: match.index, end: match.index + match[0].length }
        search.lastIndex++
      }
      return undefined
    },
  }
}

/** All findings of a text, in their order; of two that overlap the one that begins first, then the longer one. */
export function findAll(detectors: readonly Detector[], text: string): Finding[] {
  return findFrom(detectors, text, 0, text.length)
}

/** Those that begin in a part of the text; what comes before it is context. */
export function findFrom(detectors: readonly Detector[], text: string, from: number, until: number): Finding[] {
  const searches = [...new Set(detectors.map(({ loose = false }) => loose))].map((loose) => {
    const folded = fold(text, { loose })
    return detectors
      .filter((detector) => (detector.loose ?? false) === loose)
      .map((detector) => new Search(detector, folded, from))
  })
  return merge(searches.flat(), text, until)
}

function merge(searches: readonly Search[], text: string, until: number): Finding[] {
  const found: Finding[] = []
  for (let at = 0; ; ) {
    let first: Search | undefined
    for (const search of searches)
      if (search.goTo(at) && (first === undefined || search.isBefore(first))) first = search
    if (first === undefined || first.start >= until) return found
    const { start, end, type } = first
    found.push({ start, end, type, text: text.slice(start, end) })
    at = end
  }
}

/** One detector on its way through a text. */
class Search {
  start = -1
  end = -1
  readonly #detector: Detector
  readonly #folded: Folded
  readonly #from: number

  constructor(detector: Detector, folded: Folded, from: number) {
    this.#detector = detector
    this.#folded = folded
    this.#from = from
  }

  get type(): string {
    return this.#detector.type
  }

  /** Goes to its first finding from a place on; false where there is none. */
  goTo(at: number): boolean {
    const from = Math.max(at, this.#from)
    if (this.start >= from) return this.start !== Number.POSITIVE_INFINITY
    const span = this.#detector.find(this.#folded.text, this.#folded.folded(from))
    if (span === undefined) this.start = Number.POSITIVE_INFINITY
    else [this.start, this.end] = this.#folded.original(span.start, span.end)
    return span !== undefined
  }

  isBefore(other: Search): boolean {
    return this.start < other.start || (this.start === other.start && this.end > other.end)
  }
}

/** Where the end of a text begins that may still grow into a finding. */
export function openEnd(detectors: readonly Detector[], text: string): number {
  let open = /[\uD800-\uDBFF]$/.test(text) ? text.length - 1 : text.length
  for (const { longest, tail, loose = false } of detectors) {
    const folded = fold(text, { loose })
    const from = Math.max(0, folded.text.length - longest)
    const at = tail === undefined ? from : folded.text.slice(from).search(tail)
    if (at >= 0) open = Math.min(open, folded.original(tail === undefined ? from : from + at, folded.text.length)[0])
  }
  return open
}
