import { type Detector, type Finding, findFrom, openEnd } from './detector.ts'

/** How many characters before the searched text detectors may read. */
const context = 384
/** An open end longer than this is searched again only after it has grown by a quarter, so that each character is read a few times. */
const small = 256
/** A limit, because a text of only invisible characters could grow without end. */
const largest = 16_384

/** Finds the same matches in a text that arrives in pieces as in the whole text. */
export class TextWindow {
  /** How many characters from the beginning are settled. */
  settledLength = 0
  length = 0
  readonly #detectors: readonly Detector[]
  /** Context, and the unsettled text. */
  #text = ''
  #searchedLength = 0

  constructor(detectors: readonly Detector[]) {
    this.#detectors = detectors
  }

  /** Adds a piece and returns new findings, with positions in the whole text. */
  add(piece: string): Finding[] {
    this.#text += piece
    this.length += piece.length
    const open = this.length - this.settledLength
    if (open > small && open < this.#searchedLength * 1.25) return []
    this.#searchedLength = open
    return this.#settle(open > largest ? this.#text.length : openEnd(this.#detectors, this.#text))
  }

  /** Settles the rest, because no more text follows for now. */
  end(): Finding[] {
    return this.#settle(this.#text.length)
  }

  #settle(end: number): Finding[] {
    const base = this.length - this.#text.length
    const from = this.settledLength - base
    if (end <= from) return []
    const found = findFrom(this.#detectors, this.#text, from, end)
    const to = Math.max(end, found.at(-1)?.end ?? 0)
    this.settledLength = base + to
    const retainFrom = Math.max(0, to - context)
    this.#text = this.#text.slice(retainFrom)
    this.#searchedLength = this.length - this.settledLength
    return found.map((finding) => ({ ...finding, start: finding.start + base, end: finding.end + base }))
  }
}
