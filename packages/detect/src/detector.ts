import { openEscape, unescaped } from './escapes.ts'
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
  /** What that says: without the escapes of JSON, Markdown or a URL that it is written with. */
  value: string
}

/** Finds one type of value in folded texts. */
export interface Detector {
  readonly type: string
  /** The characters of the longest finding, with what it must see behind it. Of a stream, no more is kept back. */
  readonly longest: number
  /** The first finding that begins at `from` or behind it. */
  find(text: string, from: number): Span | undefined
  /** Where the end of a text begins that may grow into a finding. @default the last `longest` characters */
  open?(text: string): number
  /** Sees texts without case and accents. */
  readonly loose?: boolean
}

/** All findings of a text, in their order; of two that overlap the one that begins first, then the longer one. */
export function findAll(detectors: readonly Detector[], text: string): Finding[] {
  return findFrom(detectors, text, 0, text.length)
}

/** Those that begin in a part of the text; what comes before it is context. */
export function findFrom(detectors: readonly Detector[], text: string, from: number, until: number): Finding[] {
  const searches = [false, true].flatMap((loose) => {
    const some = detectors.filter((detector) => (detector.loose ?? false) === loose)
    if (some.length === 0) return []
    const folded = fold(text, { loose })
    return some.map((detector) => new Search(detector, folded, from))
  })
  return merge(searches, text, until)
}

/** A text with what was found in it replaced. */
export function replaceFound(
  text: string,
  detectors: readonly Detector[],
  replace: (found: Finding) => string,
): string {
  let replaced = ''
  let at = 0
  for (const finding of findAll(detectors, text)) {
    replaced += text.slice(at, finding.start) + replace(finding)
    at = finding.end
  }
  return at === 0 ? text : replaced + text.slice(at)
}

function merge(searches: readonly Search[], text: string, until: number): Finding[] {
  const found: Finding[] = []
  for (let at = 0; ; ) {
    let first: Search | undefined
    for (const search of searches)
      if (search.goTo(at) && (first === undefined || search.isBefore(first))) first = search
    if (first === undefined || first.start >= until) return found
    const { start, end, type } = first
    const there = text.slice(start, end)
    found.push({ start, end, type, text: there, value: unescaped(there) })
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
  const isHalf = /[\uD800-\uDBFF]$/.test(text)
  const whole = text.slice(0, Math.min(openEscape(text), isHalf ? text.length - 1 : text.length))
  let open = whole.length
  const views = new Map<boolean, Folded>()
  for (const { longest, open: openAt, loose = false } of detectors) {
    const folded = views.get(loose) ?? fold(whole, { loose })
    views.set(loose, folded)
    const { text: view } = folded
    const from = Math.max(0, view.length - longest, openAt === undefined ? 0 : openAt(view))
    if (from < view.length) open = Math.min(open, folded.original(from, view.length)[0])
  }
  return open
}
