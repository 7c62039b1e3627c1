import type { Detector, Span } from '../detector.ts'
import { openKey } from './vendor-keys.ts'

const unbounded = Number.POSITIVE_INFINITY

/** JSON Web Tokens of any length: two to five parts, of which the first is a JSON object in base64url. */
export const webTokens: Detector = {
  type: 'api_key',
  longest: unbounded,
  partialMatchStart: openKey,
  find(text, from) {
    for (let at = text.indexOf('eyJ', from); at >= 0; at = text.indexOf('eyJ', at + 3)) {
      if (/[\w-]/.test(text.charAt(at - 1))) continue
      const end = matchEnd(/[\w-]{10,}\.[\w-]{8,}(?:\.[\w-]+){0,3}/y, text, at)
      if (end !== undefined && end - at >= 30) return { start: at, end }
    }
    return undefined
  },
}

/** Private keys in PEM, also as lines of code. A truncated one extends to the next quote, so that surrounding JSON stays valid. */
export const privateKeys: Detector = {
  type: 'api_key',
  longest: unbounded,
  partialMatchStart(text) {
    const at = text.lastIndexOf('-----BEGIN')
    const body = at < 0 ? undefined : keyBody(text, at)
    const isOpen = body !== undefined && (matchEnd(keyLines, text, body) as number) === text.length
    return isOpen && endOf(text, body, text.length) === undefined ? at : openKey(text)
  },
  find(text, from) {
    let scannedWithoutEnd = 0 // lines that were scanned in vain are not scanned again
    for (let at = text.indexOf('-----BEGIN', from); at >= 0; at = text.indexOf('-----BEGIN', at + 10)) {
      const body = keyBody(text, at)
      if (body === undefined || !/[A-Za-z0-9+/]{4}/.test(text.slice(body, body + 300))) continue
      if (body >= scannedWithoutEnd) {
        const until = matchEnd(keyLines, text, body) as number
        const end = endOf(text, body, until)
        if (end !== undefined) return { start: at, end }
        scannedWithoutEnd = until
      }
      if (/^[\s"'\\]*[A-Za-z0-9+/]{12}/.test(text.slice(body, body + 40)))
        return { start: at, end: trimEnd(text, body, matchEnd(plainLines, text, body) as number) }
    }
    return undefined
  },
}

const keyLines = /(?:\s*(?:Version|Comment|Proc-Type|DEK-Info|Hash): [^\n"]{0,100}\n)*[A-Za-z0-9+/=\s:,"'\\;-]*/y
const plainLines = /(?:\s*(?:Version|Comment|Proc-Type|DEK-Info|Hash): [^\n"]{0,100}\n)*[A-Za-z0-9+/=\s:,-]*/y

function keyBody(text: string, at: number): number | undefined {
  return matchEnd(/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y, text, at)
}

function endOf(text: string, body: number, until: number): number | undefined {
  const at = text.slice(body, until).indexOf('-----END ')
  return at < 0 ? undefined : matchEnd(/-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y, text, body + at)
}

/** The credentials after the scheme of a header. A digit nearby distinguishes a token from a sentence about bearers. */
export const bearerTokens: Detector = {
  type: 'token',
  longest: 600,
  find: (text, from) =>
    group(/\b(?:[Bb]earer|BEARER)[ \t]{1,4}(?=[A-Za-z._~+/=-]{0,64}[0-9])([\w.~+/=-]{8,})/g, text, from),
}

/** The password in a URL, such as that of a database. */
export const urlPasswords: Detector = {
  type: 'password',
  longest: 400,
  find: (text, from) => group(/:\/\/[^\s/@:"]{0,64}:([^\s/@"]{1,256})@/g, text, from, 1),
}

function trimEnd(text: string, from: number, end: number): number {
  let at = end
  while (at > from && /[\s:,]/.test(text.charAt(at - 1))) at--
  return at
}

function matchEnd(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Returns the first group of a match; `trailing` characters follow it in the match. */
function group(pattern: RegExp, text: string, from: number, trailing = 0): Span | undefined {
  pattern.lastIndex = Math.max(0, from - 80)
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const end = match.index + match[0].length - trailing
    const start = end - (match[1] as string).length
    if (start >= from) return { start, end }
  }
  return undefined
}
