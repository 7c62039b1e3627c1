import { removeAddresses } from './addresses.ts'
import type { HostFilter } from './allowed-url.ts'
import { codeSpans, type Span } from './code-spans.ts'
import { escapeEntities } from './entities.ts'
import { Fences } from './fences.ts'
import { neutralizeMarkup, opensTagInCode } from './markup.ts'

/** How many characters of a line are buffered until it ends. A longer line is sent in pieces. */
const maxBuffered = 8_192
/** How many characters of a partly sent word are kept, to be read with the text that follows. */
const maxWord = 256
/** How many characters of a line's beginning are kept to determine its kind. */
const maxStart = 1_024

export interface CleanerOptions {
  /** Leaves code unchanged. */
  readonly code: boolean
  /** The text directly before, on the same line. */
  readonly before?: string
}

/**
 * Cleans a text line by line as it streams. Each line is sent when it is complete. No link, image, definition or tag that is let
 * through crosses a line end, so sent text stays inert whatever follows.
 */
export class LineCleaner {
  readonly #isAllowedHost: HostFilter
  readonly #fences: Fences
  readonly #trustsCode: boolean
  #buffer = ''
  /** The beginning and the last word of the current line, as far as it was sent. */
  #start: string
  #word: string
  /** There are unpaired backticks since the last blank line. */
  #hasTicks = false
  /** Unclosed brackets since the last blank line, and whether any bracket was opened. */
  #brackets = 0
  #isOpened: boolean
  /** The label of a definition may have begun. marked looks for its end across blank lines and fences. */
  #inLabel = false
  /** The previous line may define a link, whose title may follow. */
  #mayContinueDefinition = false
  #defines = false
  /** A carriage return was sent. A line feed after it belongs to the same line end. */
  #skipsLineFeed = false
  /** Whether any text was changed. */
  changed = false

  constructor(isAllowedHost: HostFilter, { code, before = '' }: CleanerOptions) {
    this.#isAllowedHost = isAllowedHost
    this.#trustsCode = code
    this.#isOpened = !code || before !== ''
    this.#fences = new Fences(code)
    this.#start = before.slice(0, maxStart)
    this.#word = wordAtEnd(before)
  }

  /** Adds text and returns the part that can be sent. */
  push(more: string): string {
    if (more === '') return ''
    let out = this.#skipsLineFeed && more.startsWith('\n') ? '\n' : ''
    this.#skipsLineFeed = false
    const hasLineEnd = this.#buffer.endsWith('\r') || /[\n\r]/.test(more)
    this.#buffer += more.slice(out.length)
    if (!hasLineEnd && this.#buffer.length <= maxBuffered) return out
    let from = 0
    for (const { index, 0: end } of this.#buffer.matchAll(/\r\n|\n|\r(?!$)/g)) {
      const [pieces, rest] = this.#splitLongLine(this.#buffer.slice(from, index))
      out += pieces + this.#cleanPiece(rest) + end
      this.#endLine()
      from = index + end.length
    }
    const [pieces, rest] = this.#splitLongLine(this.#buffer.slice(from))
    this.#buffer = rest
    return out + pieces
  }

  /** Returns all buffered text. The text that follows continues the same line. */
  flush(): string {
    const buffered = this.#buffer
    this.#buffer = ''
    if (!buffered.endsWith('\r')) return this.#cleanPiece(buffered)
    const line = this.#cleanPiece(buffered.slice(0, -1))
    this.#endLine()
    this.#skipsLineFeed = true
    return `${line}\r`
  }

  /** Returns the sendable part of a line that is too long to buffer, and the rest. */
  #splitLongLine(line: string): [string, string] {
    let out = ''
    let from = 0
    while (line.length - from > maxBuffered) {
      const end = from + maxBuffered
      const at = Math.max(line.lastIndexOf(' ', end - 1), line.lastIndexOf('\t', end - 1)) + 1
      const to = at > from ? at : end
      out += this.#cleanPiece(line.slice(from, to))
      from = to
    }
    return [out, line.slice(from)]
  }

  /** Cleans a part of a line, or a whole line. */
  #cleanPiece(text: string): string {
    if (text === '') return ''
    const clean = this.#clean(text.replaceAll('\0', '\ufffd'))
    if (clean !== text) this.changed = true
    this.#defines ||= clean.includes(']:')
    this.#isOpened ||= clean.includes('[')
    this.#inLabel = opensLabel(this.#start, clean) ?? this.#inLabel
    this.#word = wordAtEnd(this.#word + clean)
    this.#start = (this.#start + clean).slice(0, maxStart)
    return clean
  }

  #clean(text: string): string {
    const isCode = this.#fences.isCode(this.#start + text)
    const clean = isCode ? escapeFenced(text) : this.#cleanText(text)
    if (this.#word === '') return clean
    // The joined word must mean the same as its two parts; otherwise a space separates them.
    const joined = this.#word + clean
    const isStable = isCode ? escapeFenced(joined) === joined : this.#cleanPlain(joined, this.#start) === joined
    const merges = this.#word.endsWith('`') && clean.startsWith('`')
    return isStable && !merges && this.#word.length < maxWord ? clean : ` ${clean}`
  }

  #cleanText(text: string): string {
    const { spans, isOpen, brackets } = codeSpans(text, this.#brackets)
    this.#brackets = brackets
    const trusted = this.#trustsCode && !this.#hasTicks && this.#start === '' ? spans : []
    if (isOpen || spans.length > trusted.length) this.#hasTicks = true
    return trusted.length === 0 ? this.#cleanPlain(text, this.#start) : this.#cleanAround(text, trusted)
  }

  #cleanPlain(text: string, before: string): string {
    return neutralizeMarkup(
      { text: this.#cleanWords(text), spans: [], before, isOpened: this.#isOpened },
      this.#isAllowedHost,
    )
  }

  /** Cleans the text between code spans. */
  #cleanAround(text: string, code: readonly Span[]): string {
    let out = ''
    let from = 0
    const spans: Span[] = []
    for (const { start, end } of code) {
      out += this.#cleanWords(text.slice(from, start))
      spans.push({ start: out.length, end: out.length + end - start })
      out += text.slice(start, end)
      from = end
    }
    const line = { text: out + this.#cleanWords(text.slice(from)), spans, before: '', isOpened: this.#isOpened }
    return neutralizeMarkup(line, this.#isAllowedHost)
  }

  #cleanWords(text: string): string {
    return removeAddresses(escapeEntities(text), this.#isAllowedHost)
  }

  #endParagraph(): void {
    this.#hasTicks = false
    this.#brackets = 0
    this.#isOpened = !this.#trustsCode
  }

  #endLine(): void {
    const line = this.#start
    this.#start = this.#word = ''
    if (this.#mayContinueDefinition && /^\s*["'(]/.test(line)) this.#fences.distrust()
    this.#mayContinueDefinition = this.#defines
    this.#defines = false
    if (/^[ \t]*$/.test(line)) this.#endParagraph()
    this.#fences.endLine(line, line.length < maxStart)
    if (this.#inLabel && this.#fences.isOpen) this.#fences.distrust()
  }
}

/** Whether the last bracket of a line opens a label, after block markers only; undefined without brackets. */
function opensLabel(before: string, text: string): boolean | undefined {
  if (!/[[\]]/.test(text)) return undefined
  const plain = text.replace(/\\./gs, '  ')
  const at = plain.lastIndexOf('[')
  return at > plain.lastIndexOf(']')
    ? !/\p{L}/u.test(before + plain.slice(0, at))
    : plain.includes(']')
      ? false
      : undefined
}

function escapeFenced(line: string): string {
  return line.replace(/</g, (mark, at: number) => (opensTagInCode(line, at) ? '&lt;' : mark))
}

function wordAtEnd(text: string): string {
  return (
    text
      .slice(-maxWord)
      .split(/[ \t\n\r]/)
      .at(-1) ?? ''
  )
}
