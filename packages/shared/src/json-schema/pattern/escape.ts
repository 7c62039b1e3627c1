import { complement, digits, type Range, spaces, wordCharacters } from './code-points.ts'
import type { Reader } from './reader.ts'
import { Unsupported } from './unsupported.ts'

/** The meaning of an escape: one code point, a set of them, or a Unicode general category. */
export type Escape = { readonly point: number } | { readonly set: readonly Range[] } | { readonly category: string }

const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 }
const sets: Readonly<Record<string, readonly Range[]>> = {
  d: digits,
  D: complement(digits),
  w: wordCharacters,
  W: complement(wordCharacters),
  s: spaces,
  S: complement(spaces),
}

/** Unicode general categories with the same name in both engines, without those of unassigned code points. */
const categories = new Set(
  'L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp Cc Cf Co'.split(' '),
)

/** Reads an escape after its backslash. @throws Unsupported for one that is not a character or a set */
export function readEscape(reader: Reader): Escape {
  const letter = reader.next()
  const set = sets[letter]
  if (set !== undefined) return { set }
  const control = controls[letter]
  if (control !== undefined) return { point: control }
  if (letter === 'x') return { point: hex(reader, /^[\da-f]{2}/i, 2) }
  if (letter === 'u') return { point: unicodeEscape(reader) }
  if (letter === 'c' && /[a-z]/i.test(reader.peek() ?? '')) return { point: reader.next().charCodeAt(0) % 32 }
  if (letter === 'p' || letter === 'P') return { category: `\\${letter}{${categoryOf(reader)}}` }
  if (letter === '0' && !/\d/.test(reader.peek() ?? '')) return { point: 0 }
  // Letters and digits would be back references or unknown in ECMAScript.
  if (/^[\w]$/.test(letter) && letter !== '_') throw new Unsupported(`It has the escape \\${letter}.`)
  return { point: letter.codePointAt(0) as number }
}

/** Reads `\uXXXX`, `\u{X…}`, or a surrogate pair of two `\uXXXX`. */
function unicodeEscape(reader: Reader): number {
  if (reader.peek() === '{') return hex(reader, /^\{([\da-f]{1,6})\}/i, 8)
  const high = hexUnit(reader)
  const isHigh = high >= 0xd800 && high <= 0xdbff
  if (!isHigh && (high < 0xd800 || high > 0xdfff)) return high
  if (isHigh && reader.consume('\\u')) {
    const low = hexUnit(reader)
    if (low >= 0xdc00 && low <= 0xdfff) return (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000
  }
  throw new Unsupported('It has half of a surrogate pair.')
}

function hexUnit(reader: Reader): number {
  const [digits] = reader.match(/^[\da-f]{4}/i, 4) ?? []
  if (digits === undefined) throw new Unsupported('It has a \\u that is not a code point.')
  return Number.parseInt(digits, 16)
}

function hex(reader: Reader, form: RegExp, maxLength: number): number {
  const [whole, inner = whole] = reader.match(form, maxLength) ?? []
  const point = Number.parseInt(inner ?? '', 16)
  if (!(point <= 0x10ffff) || (point >= 0xd800 && point <= 0xdfff))
    throw new Unsupported('It has an escape that is not a code point.')
  return point
}

function categoryOf(reader: Reader): string {
  const [, name = ''] = reader.match(/^\{(\w{1,2})\}/, 4) ?? []
  if (!categories.has(name)) throw new Unsupported('It has a Unicode property that is not a general category.')
  return name
}
