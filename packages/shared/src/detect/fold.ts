import { backslashesEnd, escapeAt } from './escapes.ts'

/** A text as detectors read it, with its mapping to the original. */
export interface Folded {
  readonly text: string
  /** Returns the range in the original that a range of the folded text represents. */
  original(start: number, end: number): [start: number, end: number]
  /** Returns the first folded character at or after this position in the original. */
  folded(index: number): number
}

/**
 * Folds text that reads the same: resolves JSON, Markdown and URL escapes, compatibility forms (NFKC, by character), decimal
 * digits of all scripts, dashes and spaces; removes invisible characters. `loose` also folds case, accents and look-alike letters of
 * other scripts.
 */
export function fold(text: string, { loose = false } = {}): Folded {
  if (itself.test(text)) return asItIs(text, loose)
  const folding = new Folder(text, loose ? looseFormTable : plainFormTable)
  return folding.run(loose)
}

/** ASCII without characters that begin an escape: most texts. */
const itself = /^[\0-$&-[\]-\x7f]*$/

/** The folded forms of single characters, computed once each. */
class FormTable {
  /** In rows of 256: 1 if a character folds to itself. */
  readonly rows: (Uint8Array | undefined)[] = []
  readonly #nonAscii = new Map<number, string>()
  readonly #of: (char: string) => string

  constructor(of: (char: string) => string) {
    this.#of = of
  }

  /** Whether a UTF-16 unit folds to itself. An escape may begin at a unit that does not. */
  isItself(unit: number): boolean {
    return this.row(unit >> 8)[unit & 255] === 1
  }

  row(row: number): Uint8Array {
    return this.rows[row] ?? this.#learn(row)
  }

  /** Returns the first position whose character does not fold to itself. */
  skip(text: string, from: number): number {
    const { rows } = this
    const { length } = text
    let at = from
    for (let block = this.row(0), row = 0; at < length; at++) {
      const unit = text.charCodeAt(at)
      if (unit >> 8 !== row) {
        row = unit >> 8
        block = rows[row] ?? this.#learn(row)
      }
      if (block[unit & 255] !== 1) break
    }
    return at
  }

  form(char: string): string {
    const code = char.codePointAt(0) as number
    let form = this.#nonAscii.get(code)
    if (form === undefined) {
      form = this.#of(char)
      if (this.#nonAscii.size < 20_000) this.#nonAscii.set(code, form)
    }
    return form
  }

  #learn(row: number): Uint8Array {
    const block = new Uint8Array(256)
    for (let i = 0; i < 256; i++) {
      const char = String.fromCharCode(row * 256 + i)
      block[i] = !isSurrogate(row) && char !== '\\' && char !== '%' && this.#of(char) === char ? 1 : 0
    }
    this.rows[row] = block
    return block
  }
}

const isSurrogate = (row: number): boolean => row >= 0xd8 && row <= 0xdf

/** Created by the first text that needs them. */
const plainFormTable = new FormTable(plainForm)
const looseFormTable = new FormTable((char) => looseForm(plainForm(char)))

class Folder {
  readonly #text: string
  readonly #formTable: FormTable
  /** Joined at the end, because a text built with `+=` is slow to scan. */
  readonly #pieces: string[] = []
  #size = 0
  /** Positions of parts whose length changed; positions after them are shifted. */
  readonly #at: number[] = []
  readonly #length: number[] = []
  readonly #from: number[] = []
  readonly #to: number[] = []

  constructor(text: string, formTable: FormTable) {
    this.#text = text
    this.#formTable = formTable
  }

  run(loose: boolean): Folded {
    const text = this.#text
    const formTable = this.#formTable
    let from = 0
    for (let at = formTable.skip(text, 0); at < text.length; at = formTable.skip(text, at)) {
      const escapeSequence = escapeAt(text, at)
      if (escapeSequence === undefined && text.charCodeAt(at) === 92) {
        at = backslashesEnd(text, at)
        continue
      }
      const { length, char } = escapeSequence ?? this.#character(at)
      const form = char.length === 1 && formTable.isItself(char.charCodeAt(0)) ? char : formTable.form(char)
      const isSame = form === char && form.length === length
      if (!isSame) {
        this.#add(text.slice(from, at))
        this.#append(form, at, at + length)
        from = at + length
      }
      at += length
    }
    if (from === 0) return asItIs(text, loose)
    this.#add(text.slice(from))
    return this.#result(loose)
  }

  #character(at: number): { length: number; char: string } {
    const text = this.#text
    const code = text.charCodeAt(at)
    const next = text.charCodeAt(at + 1)
    const isPair = code >= 0xd800 && code < 0xdc00 && next >= 0xdc00 && next < 0xe000
    return { length: isPair ? 2 : 1, char: text.slice(at, at + (isPair ? 2 : 1)) }
  }

  #append(form: string, from: number, to: number): void {
    if (form.length !== to - from || form.length !== 1) {
      this.#at.push(this.#size)
      this.#length.push(form.length)
      this.#from.push(from)
      this.#to.push(to)
    }
    this.#add(form)
  }

  #add(piece: string): void {
    this.#pieces.push(piece)
    this.#size += piece.length
  }

  #result(loose: boolean): Folded {
    const [at, length, from, to] = [this.#at, this.#length, this.#from, this.#to]
    const all = this.#text.length
    const folded = this.#pieces.join('')
    const { length: limit } = folded
    const place = (index: number): [number, number] => {
      const i = lastIndexUpTo(at, index)
      if (i < 0) return [index, index + 1]
      const next = (at[i] as number) + (length[i] as number)
      if (index < next) return [from[i] as number, to[i] as number]
      const start = (to[i] as number) + index - next
      return [start, start + 1]
    }
    return {
      text: loose ? lowered(folded) : folded,
      original: (start, end) => [
        start < limit ? place(start)[0] : all,
        end > 0 ? place(Math.min(end, limit) - 1)[1] : 0,
      ],
      folded(index) {
        const i = lastIndexUpTo(from, index - 1)
        if (i < 0) return Math.min(index, limit)
        const next = (at[i] as number) + (length[i] as number)
        return Math.min(limit, next + Math.max(0, index - (to[i] as number)))
      },
    }
  }
}

function asItIs(text: string, loose: boolean): Folded {
  return {
    text: loose ? lowered(text) : text,
    original: (start, end) => [start, end],
    folded: (index) => Math.min(index, text.length),
  }
}

/** Returns the index of the last of some ascending numbers that does not exceed a limit; -1 if all do. */
function lastIndexUpTo(numbers: readonly number[], limit: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] as number) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/u

function plainForm(char: string): string {
  if (char < '\x80') return char
  if (invisible.test(char)) return ''
  const as = char.normalize('NFKC')
  if (/^\p{Nd}$/u.test(as)) return digitOf(as)
  if (/^[\p{Pd}\u2212]$/u.test(as)) return '-'
  return /^\p{Zs}$/u.test(as) ? ' ' : as
}

/** Case is folded at the end for the whole text; until then a character that differs only in case folds to itself. */
function looseForm(text: string): string {
  if (text < '\x80') return text
  const plain = text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/./gsu, (char) => lookalikes.get(char) ?? char)
  return plain === text.toLowerCase() && plain.length === text.length ? text : plain
}

const lowered = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

/** Cyrillic, Greek, Armenian and Cherokee letters that look like Latin ones. Source: Unicode's confusables (UTS #39). */
const lookalikes = new Map(
  [
    ['аα', 'a'],
    ['вβ', 'b'],
    ['сϲ', 'c'],
    ['ԁ', 'd'],
    ['еεҽ', 'e'],
    ['ց', 'g'],
    ['нһհη', 'h'],
    ['іιıӏ', 'i'],
    ['јϳ', 'j'],
    ['кκ', 'k'],
    ['мμ', 'm'],
    ['ոп', 'n'],
    ['оοօ', 'o'],
    ['рρ', 'p'],
    ['ԛ', 'q'],
    ['г', 'r'],
    ['ѕ', 's'],
    ['тτ', 't'],
    ['ս', 'u'],
    ['ѵν', 'v'],
    ['ԝ', 'w'],
    ['хχ', 'x'],
    ['уүυγ', 'y'],
    ['ζ', 'z'],
  ].flatMap(([others = '', latin = '']) => [...others].map((char) => [char, latin] as const)),
)

/** Unicode assigns the decimal digits of each script to ten consecutive code points. */
function digitOf(char: string): string {
  const code = char.codePointAt(0) as number
  if (code < 0x80) return char
  let value = 0
  while (value < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(code - value - 1))) value++
  return String(value)
}
