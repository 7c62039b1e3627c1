import { openEscape, resolveEscapes } from './escapes.ts'
import { type Folded, fold } from './fold.ts'

/** A part of a text. */
export interface Span {
  start: number
  end: number
}

/** A detector's match. */
export interface Finding extends Span {
  type: string
  /** The matched text in the original. */
  text: string
  /** The text without the JSON, Markdown or URL escapes in which it is written. */
  value: string
}

/** Finds one type of value in folded texts. */
export interface Detector {
  readonly type: string
  /**
   * The length of the longest finding, including the characters after it that the detector must see. At most this much of a stream is held
   * back.
   */
  readonly longest: number
  /** Returns the first finding that begins at or after `from`. */
  find(text: string, from: number): Span | undefined
  /** Returns the start of the text's end that may still grow into a finding. @default the last `longest` characters */
  partialMatchStart?(text: string): number
  /** Whether it reads texts without case and accents. */
  readonly loose?: boolean
}

/** Returns all findings of a text in order. Of two overlapping ones, the earlier wins, then the longer. */
export function findAll(detectors: readonly Detector[], text: string): Finding[] {
  return findFrom(detectors, text, 0, text.length)
}

/** Returns the findings that begin in a part of the text; the text before it is context. */
export function findFrom(detectors: readonly Detector[], text: string, from: number, until: number): Finding[] {
  const searches: Search[] = []
  const [strict, loose] = viewsOf(detectors)
  startSearches(searches, strict, fold(text, { loose: false }), from)
  if (loose.length > 0) startSearches(searches, loose, fold(text, { loose: true }), from)
  return searches.length === 0 ? [] : merge(searches, text, until)
}

/** Most texts contain no findings, so only detectors with a first finding continue. */
function startSearches(searches: Search[], detectors: readonly Detector[], folded: Folded, from: number): void {
  if (detectors.length === 0) return
  const first = folded.folded(from)
  for (const detector of detectors) {
    const span = detector.find(folded.text, first)
    if (span !== undefined) searches.push(new Search(detector, folded, span))
  }
}

/** Detectors by the text that they read: strict, or without case and accents. */
const views = new WeakMap<readonly Detector[], [strict: readonly Detector[], loose: readonly Detector[]]>()

function viewsOf(detectors: readonly Detector[]) {
  const cached = views.get(detectors)
  if (cached !== undefined && cached[0].length + cached[1].length === detectors.length) return cached
  const made: [Detector[], Detector[]] = [[], []]
  for (const detector of detectors) made[detector.loose === true ? 1 : 0].push(detector)
  views.set(detectors, made)
  return made
}

/** Returns a text with its findings replaced. */
export function replaceFound(
  text: string,
  detectors: readonly Detector[],
  replace: (finding: Finding) => string,
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
  const finding: Finding[] = []
  for (let at = 0; ; ) {
    let first: Search | undefined
    for (const search of searches)
      if (search.advanceTo(at) && (first === undefined || search.isBefore(first))) first = search
    if (first === undefined || first.start >= until) return finding
    const { start, end, type } = first
    const matched = text.slice(start, end)
    finding.push({ start, end, type, text: matched, value: resolveEscapes(matched) })
    at = end
  }
}

/** The progress of one detector through a text. */
class Search {
  start = 0
  end = 0
  readonly #detector: Detector
  readonly #folded: Folded

  constructor(detector: Detector, folded: Folded, first: Span) {
    this.#detector = detector
    this.#folded = folded
    this.#moveTo(first)
  }

  get type(): string {
    return this.#detector.type
  }

  /** Moves to its first finding at or after a position; returns false if there is none. */
  advanceTo(at: number): boolean {
    if (this.start >= at) return this.start !== Number.POSITIVE_INFINITY
    const span = this.#detector.find(this.#folded.text, this.#folded.folded(at))
    if (span === undefined) this.start = Number.POSITIVE_INFINITY
    else this.#moveTo(span)
    return span !== undefined
  }

  #moveTo({ start, end }: Span): void {
    ;[this.start, this.end] = this.#folded.original(start, end)
  }

  isBefore(other: Search): boolean {
    return this.start < other.start || (this.start === other.start && this.end > other.end)
  }
}

/** Returns the start of the text's end that may still grow into a finding. */
export function openEnd(detectors: readonly Detector[], text: string): number {
  const isHalf = /[\uD800-\uDBFF]$/.test(text)
  const settledText = text.slice(0, Math.min(openEscape(text), isHalf ? text.length - 1 : text.length))
  let open = settledText.length
  const folds = new Map<boolean, Folded>()
  for (const { longest, partialMatchStart: openAt, loose = false } of detectors) {
    const folded = folds.get(loose) ?? fold(settledText, { loose })
    folds.set(loose, folded)
    const { text: view } = folded
    const from = Math.max(0, view.length - longest, openAt === undefined ? 0 : openAt(view))
    if (from < view.length) open = Math.min(open, folded.original(from, view.length)[0])
  }
  return open
}
