import type { Detector, Span } from '@allium/detect'
import { fold } from '@allium/detect'

/**
 * One detector for all keywords, as whole words, the longest one first. It goes through a text once, however many they are:
 * an automaton by Aho and Corasick, made by the first text.
 */
export function keywordDetectors(keywords: readonly string[]): Detector[] {
  const folded = keywords.map((keyword) => fold(keyword, { loose: true }).text.trim().replace(/\s+/g, ' '))
  const words = [...new Set(folded)].filter((word) => word !== '')
  if (words.length === 0) return []
  let automaton: Automaton | undefined
  const longest = Math.max(...words.map((word) => word.length + (word.split(' ').length - 1) * mostSpaces)) + 2
  const made = () => {
    automaton ??= new Automaton(words)
    return automaton
  }
  return [
    { type: 'keyword', longest, loose: true, find: (text, from) => made().find(text, from, isAlone) },
    { type: 'keyword', longest: longest * 2 + 8, loose: true, find: (text, from) => findSpaced(text, from, made()) },
  ]
}

/** Letters with one sign between each and the next: `n i g h t`, `n.i.g.h.t`. */
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

const mostSpaces = 16
/** Letters and digits of scripts that put spaces between words. */
const word =
  /(?!\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai}|\p{Script=Lao}|\p{Script=Khmer}|\p{Script=Myanmar})[\p{L}\p{N}]/u
const asciiWord = /[a-z0-9]/

/** A digit or sign that is written for a letter: `n1ght`, `p@ss`. Each has one that it stands in for in the automaton. */
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

/** Letters that one sign may stand for are one in the automaton. */
function skeleton(char: string): string {
  if (char === 'l') return 'i'
  return leet[char]?.[0] ?? char
}

class Automaton {
  readonly #words: readonly string[]
  readonly #classes = new Map<number, number>()
  readonly #ascii = new Uint16Array(128)
  readonly #next: Int32Array
  readonly #width: number
  /** The words that end in a state, and the next state by suffix in which some do. */
  readonly #ends: (readonly string[] | undefined)[] = []
  readonly #shorter: Int32Array
  readonly #depth: Int32Array

  constructor(words: readonly string[]) {
    this.#words = words
    this.#learn()
    this.#width = this.#classes.size + 1
    const states = 1 + words.reduce((sum, word) => sum + word.length, 0)
    this.#next = new Int32Array(states * this.#width)
    this.#shorter = new Int32Array(states)
    this.#depth = new Int32Array(states)
    this.#link(this.#grow())
  }

  /** The classes of characters that keywords have; all others are class 0. */
  #learn(): void {
    for (const char of this.#words.join(''))
      for (const unit of char.split('')) {
        const as = skeleton(unit).charCodeAt(0)
        if (!this.#classes.has(as)) this.#classes.set(as, this.#classes.size + 1)
      }
    for (let code = 0; code < 128; code++)
      this.#ascii[code] = this.#classes.get(skeleton(String.fromCharCode(code)).charCodeAt(0)) ?? 0
    for (const space of [9, 10, 11, 12, 13]) this.#ascii[space] = this.#ascii[32] as number
  }

  #classOf(code: number): number {
    return code < 128 ? (this.#ascii[code] as number) : (this.#classes.get(code) ?? 0)
  }

  #grow(): number {
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
      this.#ends[state] = [...(this.#ends[state] ?? []), word]
    }
    return states
  }

  /** Breadth first: where no edge leads on, that of the longest suffix does. */
  #link(states: number): void {
    const suffix = new Int32Array(states)
    const queue: number[] = []
    for (let c = 1; c < this.#width; c++) if (this.#next[c] !== 0) queue.push(this.#next[c] as number)
    for (const state of queue) {
      const back = suffix[state] as number
      this.#shorter[state] = this.#ends[back] === undefined ? (this.#shorter[back] as number) : back
      for (let c = 1; c < this.#width; c++) {
        const edge = state * this.#width + c
        const fallen = this.#next[back * this.#width + c] as number
        const to = this.#next[edge] as number
        if (to === 0) this.#next[edge] = fallen
        else {
          suffix[to] = fallen
          queue.push(to)
        }
      }
    }
  }

  find(text: string, from: number, fits: Fits): Span | undefined {
    const [next, width, ascii, ends, shorter] = [this.#next, this.#width, this.#ascii, this.#ends, this.#shorter]
    let best: Span | undefined
    let spaces = 0
    for (let at = from, state = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === 32 || (code < 14 && code > 8)) {
        if (++spaces > 1 && spaces <= mostSpaces) continue
        if (spaces > mostSpaces) state = 0
      } else spaces = 0
      state = next[state * width + (code < 128 ? (ascii[code] as number) : this.#classOf(code))] as number
      if (best !== undefined && at - (this.#depth[state] as number) * (mostSpaces + 1) > best.start) return best
      if (state === 0) {
        if (best !== undefined) return best
        continue
      }
      for (
        let end = ends[state] === undefined ? (shorter[state] as number) : state;
        end !== 0;
        end = shorter[end] as number
      )
        for (const word of ends[end] as readonly string[])
          best = this.#better(best, spanOf(text, from, at + 1, word, fits))
    }
    return best
  }

  #better(best: Span | undefined, span: Span | undefined): Span | undefined {
    if (span === undefined || best === undefined) return best ?? span
    return span.start < best.start || (span.start === best.start && span.end > best.end) ? span : best
  }
}

/** Where a word stands that ends at a place, if it does: its letters, or signs for them, and no letter around it. */
function spanOf(text: string, from: number, end: number, keyword: string, fits: Fits): Span | undefined {
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
  return fits(text, { start: at, end }, keyword) ? { start: at, end } : undefined
}

/** Whether a word may stand there. */
type Fits = (text: string, span: Span, keyword: string) => boolean

const isAlone: Fits = (text, { start, end }, keyword) =>
  !joins(keyword.charAt(0), charBefore(text, start)) && !joins(keyword.charAt(keyword.length - 1), charAt(text, end))

/** Among spaced letters nothing tells where a word begins. */
const isLong: Fits = (_text, _span, keyword) => keyword.length > 3

const isLetter = (char: string): boolean => (char < '\x80' ? asciiWord.test(char) : word.test(char))
const joins = (edge: string, beside: string): boolean =>
  beside !== '' && isLetter(beside) && (isLetter(edge) || /[\ud800-\udfff]/.test(edge))
const charAt = (text: string, at: number): string =>
  at < text.length ? String.fromCodePoint(text.codePointAt(at) as number) : ''
const charBefore = (text: string, at: number): string =>
  /[\udc00-\udfff]/.test(text.charAt(at - 1)) ? text.slice(Math.max(0, at - 2), at) : text.charAt(at - 1)
