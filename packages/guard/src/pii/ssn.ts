import { type Detector, isDigit, isWord, type Span } from '@allium/detect'
import { openNumber } from './numbers.ts'

/** Social Security numbers of the United States, without those that were never given out. */
export const ssn: Detector = { type: 'ssn', longest: 16, open: openNumber, find }

const shape = /(?:00[1-9]|0[1-9]\d|[1-578]\d\d|6(?:[0-57-9]\d|6[0-57-9]))([ .-])(?!00)\d\d\1(?!0000)\d{4}/g
const plain = /(?:00[1-9]|0[1-9]\d|[1-578]\d\d|6(?:[0-57-9]\d|6[0-57-9]))(?!00)\d\d(?!0000)\d{4}/g

function find(text: string, from: number): Span | undefined {
  const written = findShape(text, from)
  const joined = findJoined(text, from)
  return joined === undefined || (written !== undefined && written.start < joined.start) ? written : joined
}

function findShape(text: string, from: number): Span | undefined {
  shape.lastIndex = from
  for (let match = shape.exec(text); match !== null; match = shape.exec(text)) {
    const start = match.index
    const end = start + match[0].length
    if (isAlone(text, start, end, text.charAt(start + 3))) return { start, end }
    shape.lastIndex = start + 1
  }
  return undefined
}

/** Nine digits alone are one only where it says so. */
function findJoined(text: string, from: number): Span | undefined {
  plain.lastIndex = from
  for (let match = plain.exec(text); match !== null; match = plain.exec(text)) {
    const start = match.index
    const end = start + 9
    if (isAlone(text, start, end, '-') && /\bssn\b|social security/i.test(text.slice(Math.max(0, start - 40), start)))
      return { start, end }
    while (isDigit(text.charCodeAt(plain.lastIndex))) plain.lastIndex++
  }
  return undefined
}

/** No part of a longer word or number. */
function isAlone(text: string, start: number, end: number, separator: string): boolean {
  if (isWord(text.charCodeAt(start - 1)) || isWord(text.charCodeAt(end))) return false
  const isJoined = (mark: string) => mark === separator || mark === '.' || mark === '-'
  if (isJoined(text.charAt(start - 1)) && text.charAt(start - 1) !== ' ' && isDigit(text.charCodeAt(start - 2)))
    return false
  return !(isJoined(text.charAt(end)) && text.charAt(end) !== ' ' && isDigit(text.charCodeAt(end + 1)))
}
