import { type Detector, type Finding, findFrom, openEnd } from './detector.ts'

/** What detectors may look at before the text that they decide about. */
const context = 384
/** Beyond this an end that may still grow is looked at again only when it has grown by a quarter, so that each character is looked at a few times. */
const small = 256
/** A text of invisible characters alone could grow for ever. */
const largest = 16_384

/** Finds in a text that comes in pieces what would be found in the whole. */
export class TextWindow {
  /** So many characters have been decided about, from the beginning. */
  settledLength = 0
  length = 0
  readonly #detectors: readonly Detector[]
  /** Context, and what is not decided yet. */
  #text = ''
  #searchedLength = 0

  constructor(detectors: readonly Detector[]) {
    this.#detectors = detectors
  }

  /** Adds a piece; gives what was found, by its place in the whole. */
  add(piece: string): Finding[] {
    this.#text += piece
    this.length += piece.length
    const open = this.length - this.settledLength
    if (open > small && open < this.#searchedLength * 1.25) return []
    this.#searchedLength = open
    return this.#settle(open > largest ? this.#text.length : openEnd(this.#detectors, this.#text))
  }

  /** Decides about the rest: nothing more comes, for now. */
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
