/** One character that is written as several. */
export interface EscapeSequence {
  /** The number of characters in which it is written. */
  readonly length: number
  readonly char: string
}

/**
 * Returns the escape at a backslash or a percent sign: JSON (`\n`, `\u0040`) at any depth of quoting, Markdown
 * (`\_`), or URL (`%40`; not for letters and digits).
 */
export function escapeAt(text: string, at: number): EscapeSequence | undefined {
  const code = text.charCodeAt(at)
  if (code === percent) return percentAt(text, at)
  return code === backslash ? backslashAt(text, at) : undefined
}

/** Returns the end of a run of backslashes. */
export function backslashesEnd(text: string, at: number): number {
  let end = at
  while (text.charCodeAt(end) === backslash) end++
  return end
}

/** Returns where an incomplete escape begins at the end of a partial text; its length if there is none. */
export function openEscape(text: string): number {
  return Math.min(openBackslash(text), openPercent(text))
}

/** Returns a text with its escapes resolved. */
export function resolveEscapes(text: string): string {
  let plain = ''
  let from = 0
  for (let at = nextEscape(text, 0); at >= 0; at = nextEscape(text, at)) {
    const escapeSequence = escapeAt(text, at)
    if (escapeSequence === undefined) at = Math.max(at + 1, backslashesEnd(text, at))
    else {
      plain += text.slice(from, at) + escapeSequence.char
      from = at += escapeSequence.length
    }
  }
  return from === 0 ? text : plain + text.slice(from)
}

const backslash = 92
const percent = 37
const letters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

function nextEscape(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === backslash || code === percent) return at
  }
  return -1
}

/** JSON within JSON doubles its backslashes, so a run of any length escapes the next character. */
function backslashAt(text: string, at: number): EscapeSequence | undefined {
  const end = backslashesEnd(text, at)
  const next = text.charAt(end)
  if (next === 'u') return unicodeAt(text, at, end + 1)
  const char = letters[next] ?? (/[!-/:-@[-`{-~]/.test(next) ? next : undefined)
  return char === undefined ? undefined : { length: end + 1 - at, char }
}

function unicodeAt(text: string, at: number, digits: number): EscapeSequence | undefined {
  const first = hex(text, digits, 4)
  if (first === undefined) return undefined
  const end = digits + 4
  const isHigh = first >= 0xd800 && first < 0xdc00
  const next = isHigh ? backslashesEnd(text, end) : end
  const second = isHigh && next > end && text.charAt(next) === 'u' ? hex(text, next + 1, 4) : undefined
  return second !== undefined && second >= 0xdc00 && second < 0xe000
    ? { length: next + 5 - at, char: String.fromCharCode(first, second) }
    : { length: end - at, char: String.fromCharCode(first) }
}

/** An escaped escape has `25` after its percent sign. */
function percentAt(text: string, at: number): EscapeSequence | undefined {
  let digits = at + 1
  while (text.startsWith('25', digits) && hex(text, digits + 2, 2) !== undefined) digits += 2
  const code = hex(text, digits, 2)
  if (code !== undefined && code > 127) return utf8At(text, at)
  if (code === undefined || code === 127) return undefined
  const char = String.fromCharCode(code)
  return /[A-Za-z0-9]/.test(char) ? undefined : { length: digits + 2 - at, char }
}

/** A character outside of ASCII has two to four bytes. */
function utf8At(text: string, at: number): EscapeSequence | undefined {
  const first = hex(text, at + 1, 2) as number
  const count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0
  if (count === 0 || !/^(?:%[89abAB][0-9A-Fa-f]){1,3}$/.test(text.slice(at + 3, at + count * 3))) return undefined
  try {
    return { length: count * 3, char: decodeURIComponent(text.slice(at, at + count * 3)) }
  } catch {
    return undefined
  }
}

function hex(text: string, at: number, length: number): number | undefined {
  if (at + length > text.length) return undefined
  let value = 0
  for (let i = at; i < at + length; i++) {
    const digit = hexDigit(text.charCodeAt(i))
    if (digit < 0) return undefined
    value = value * 16 + digit
  }
  return value
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const letter = (code | 32) - 97
  return letter >= 0 && letter < 6 ? letter + 10 : -1
}

function openBackslash(text: string): number {
  let at = text.length
  for (let digits = 0; digits < 4 && hexDigit(text.charCodeAt(at - 1)) >= 0; digits++) at--
  const whole = text.length - at === 4 && text.charAt(at - 1) === 'u' ? hex(text, at, 4) : undefined
  const isHigh = whole !== undefined && whole >= 0xd800 && whole < 0xdc00
  if (text.charAt(at - 1) === 'u' && (whole === undefined || isHigh)) return runStart(text, at - 1) ?? text.length
  const run = runStart(text, text.length)
  return run === undefined ? text.length : afterHigh(text, run)
}

/** Returns the start of a run of backslashes that ends here. */
function runStart(text: string, end: number): number | undefined {
  let at = end
  while (text.charCodeAt(at - 1) === backslash) at--
  return at === end ? undefined : at
}

/** The second half of a surrogate pair may follow, so both halves stay open. */
function afterHigh(text: string, at: number): number {
  const high = text.charAt(at - 5) === 'u' ? hex(text, at - 4, 4) : undefined
  const isHigh = high !== undefined && high >= 0xd800 && high < 0xdc00
  return isHigh ? (runStart(text, at - 5) ?? at) : at
}

const openUtf8 = /%[c-fC-F](?:[0-9A-Fa-f](?:%[89abAB][0-9A-Fa-f]){0,2}%?[89abAB]?)?$/

function openPercent(text: string): number {
  const end = text.slice(-12)
  const utf8 = end.search(openUtf8)
  if (utf8 >= 0) return text.length - end.length + utf8
  let at = text.length
  while (text.length - at < 64 && hexDigit(text.charCodeAt(at - 1)) >= 0) at--
  if (text.charCodeAt(at - 1) !== percent) return text.length
  return /^(?:25)*[0-9A-Fa-f]?$/.test(text.slice(at)) ? at - 1 : text.length
}
