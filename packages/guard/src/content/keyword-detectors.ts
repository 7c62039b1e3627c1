import type { Detector, Span } from '@allium/shared/detect'
import { fold } from '@allium/shared/detect'

/**
 * One detector for all keywords, as whole words, longest first. It scans a text once regardless of the number of keywords, with an
 * Aho-Corasick automaton that is built for the first text.
 */
export function keywordDetectors(keywords: readonly string[]): Detector[] {
  const folded = keywords.map((keyword) => fold(keyword, { loose: true }).text.trim().replace(/\s+/g, ' '))
  const words = [...new Set(folded)].filter((word) => word !== '')
  if (words.length === 0) return []
  let automaton: Automaton | undefined
  const longest = Math.max(...words.map((word) => word.length + (word.split(' ').length - 1) * maxSpaces)) + 2
  const getAutomaton = () => {
    automaton ??= new Automaton(words)
    return automaton
  }
  return [
    { type: 'keyword', longest, loose: true, find: (text, from) => getAutomaton().find(text, from, isWholeWord) },
    {
      type: 'keyword',
      longest: longest * 2 + 8,
      loose: true,
      find: (text, from) => findSpaced(text, from, getAutomaton()),
    },
  ]
}

/** Finds letters that are separated by one sign: `n i g h t`, `n.i.g.h.t`. */
function findSpaced(text: string, from: number, automaton: Automaton): Span | undefined {
  const spaced = /(?:[^\s._*-][ ._*-]){3,200}[^\s._*-]/g
  spaced.lastIndex = from
  for (let run = spaced.exec(text); run !== null; run = spaced.exec(text)) {
    const letters = run[0].replace(/(.)./gs, '$1')
    const found = letters.length < 4 ? undefined : automaton.find(letters, 0, isLong)
    if (found !== undefined) return { start: run.index + found.start * 2, end: run.index + found.end * 2 - 1 }
    spaced.lastIndex = run.index + Math.max(1, run[0].length - 8)
  }
  return undefined
}

const maxSpaces = 16
/** Letters and digits of scripts that put spaces between words. */
const wordChar =
  /(?!\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai}|\p{Script=Lao}|\p{Script=Khmer}|\p{Script=Myanmar})[\p{L}\p{N}]/u
const asciiWord = /[a-z0-9]/

/** Digits and signs written for letters: `n1ght`, `p@ss`. In the automaton each is represented by one letter. */
const leet: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'il',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  8: 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'il',
}

/** Letters that one sign may replace are the same letter in the automaton. */
function canonicalChar(char: string): string {
  if (char === 'l') return 'i'
  return leet[char]?.[0] ?? char
}

class Automaton {
  readonly #words: readonly string[]
  readonly #classes = new Map<number, number>()
  readonly #ascii = new Uint16Array(128)
  readonly #next: Int32Array
  readonly #width: number
  /** The words that end in a state, and the next state by suffix in which words end. */
  readonly #outputs: (readonly string[] | undefined)[] = []
  readonly #outputLinks: Int32Array
  readonly #depth: Int32Array

  constructor(words: readonly string[]) {
    this.#words = words
    this.#buildClasses()
    this.#width = this.#classes.size + 1
    const states = 1 + words.reduce((sum, word) => sum + word.length, 0)
    this.#next = new Int32Array(states * this.#width)
    this.#outputLinks = new Int32Array(states)
    this.#depth = new Int32Array(states)
    this.#buildFailureLinks(this.#buildTrie())
  }

  /** The classes of characters that occur in keywords; all others are class 0. */
  #buildClasses(): void {
    for (const char of this.#words.join(''))
      for (const unit of char.split('')) {
        const as = canonicalChar(unit).charCodeAt(0)
        if (!this.#classes.has(as)) this.#classes.set(as, this.#classes.size + 1)
      }
    for (let code = 0; code < 128; code++)
      this.#ascii[code] = this.#classes.get(canonicalChar(String.fromCharCode(code)).charCodeAt(0)) ?? 0
    for (const space of [9, 10, 11, 12, 13]) this.#ascii[space] = this.#ascii[32] as number
  }

  #classOf(code: number): number {
    return code < 128 ? (this.#ascii[code] as number) : (this.#classes.get(code) ?? 0)
  }

  #buildTrie(): number {
    let states = 1
    for (const word of this.#words) {
      let state = 0
      for (let i = 0; i < word.length; i++) {
        const edge = state * this.#width + this.#classOf(word.charCodeAt(i))
        if (this.#next[edge] === 0) {
          this.#depth[states] = i + 1
          this.#next[edge] = states++
        }
        state = this.#next[edge] as number
      }
      this.#outputs[state] = [...(this.#outputs[state] ?? []), word]
    }
    return states
  }

  /** Breadth first: a missing edge is replaced by that of the longest suffix. */
  #buildFailureLinks(states: number): void {
    const suffix = new Int32Array(states)
    const queue: number[] = []
    for (let c = 1; c < this.#width; c++) if (this.#next[c] !== 0) queue.push(this.#next[c] as number)
    for (const state of queue) {
      const suffixState = suffix[state] as number
      this.#outputLinks[state] =
        this.#outputs[suffixState] === undefined ? (this.#outputLinks[suffixState] as number) : suffixState
      for (let c = 1; c < this.#width; c++) {
        const edge = state * this.#width + c
        const fallback = this.#next[suffixState * this.#width + c] as number
        const to = this.#next[edge] as number
        if (to === 0) this.#next[edge] = fallback
        else {
          suffix[to] = fallback
          queue.push(to)
        }
      }
    }
  }

  find(text: string, from: number, accepts: MatchTest): Span | undefined {
    const [next, width, ascii, outputs, outputLinks] = [
      this.#next,
      this.#width,
      this.#ascii,
      this.#outputs,
      this.#outputLinks,
    ]
    let best: Span | undefined
    let spaces = 0
    for (let at = from, state = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === 32 || (code < 14 && code > 8)) {
        if (++spaces > 1 && spaces <= maxSpaces) continue
        if (spaces > maxSpaces) state = 0
      } else spaces = 0
      state = next[state * width + (code < 128 ? (ascii[code] as number) : this.#classOf(code))] as number
      if (best !== undefined && at - (this.#depth[state] as number) * (maxSpaces + 1) > best.start) return best
      if (state === 0) {
        if (best !== undefined) return best
        continue
      }
      for (
        let end = outputs[state] === undefined ? (outputLinks[state] as number) : state;
        end !== 0;
        end = outputLinks[end] as number
      )
        for (const word of outputs[end] as readonly string[])
          best = this.#preferred(best, matchEndingAt(text, from, at + 1, word, accepts))
    }
    return best
  }

  #preferred(best: Span | undefined, span: Span | undefined): Span | undefined {
    if (span === undefined || best === undefined) return best ?? span
    return span.start < best.start || (span.start === best.start && span.end > best.end) ? span : best
  }
}

/** Returns the span of a word that ends at `end`, in letters or substitute signs, without adjacent letters. */
function matchEndingAt(text: string, from: number, end: number, keyword: string, accepts: MatchTest): Span | undefined {
  let at = end
  let plain = false
  let signs = 0
  for (let i = keyword.length - 1; i >= 0; i--) {
    if (keyword[i] === ' ') {
      while (at > from && /\s/.test(text.charAt(at - 1))) at--
      continue
    }
    const char = text.charAt(at - 1)
    if (at <= from) return undefined
    if (char === keyword[i]) plain ||= /[\p{L}]/u.test(char)
    else if (leet[char]?.includes(keyword[i] as string)) signs++
    else return undefined
    at--
  }
  if (signs > 0 && (!plain || keyword.length < 4)) return undefined
  return accepts(text, { start: at, end }, keyword) ? { start: at, end } : undefined
}

/** Whether a word may match at this span. */
type MatchTest = (text: string, span: Span, keyword: string) => boolean

const isWholeWord: MatchTest = (text, { start, end }, keyword) =>
  !joinsWord(keyword.charAt(0), charBefore(text, start)) &&
  !joinsWord(keyword.charAt(keyword.length - 1), charAt(text, end))

/** Spaced letters do not show where a word begins. */
const isLong: MatchTest = (_text, _span, keyword) => keyword.length > 3

const isLetter = (char: string): boolean => (char < '\x80' ? asciiWord.test(char) : wordChar.test(char))
const joinsWord = (edge: string, neighbor: string): boolean =>
  neighbor !== '' && isLetter(neighbor) && (isLetter(edge) || /[\ud800-\udfff]/.test(edge))
const charAt = (text: string, at: number): string =>
  at < text.length ? String.fromCodePoint(text.codePointAt(at) as number) : ''
const charBefore = (text: string, at: number): string =>
  /[\udc00-\udfff]/.test(text.charAt(at - 1)) ? text.slice(Math.max(0, at - 2), at) : text.charAt(at - 1)
