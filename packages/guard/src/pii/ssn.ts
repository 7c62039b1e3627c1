import { type Detector, isDigit, isWord, type Span } from '@allium/shared/detect'
import { partialNumberStart } from './numbers.ts'

/** Social Security numbers of the United States, except those that were never issued. */
export const ssn: Detector = { type: 'ssn', longest: 16, partialMatchStart: partialNumberStart, find }

const separatedPattern = /(?:00[1-9]|0[1-9]\d|[1-578]\d\d|6(?:[0-57-9]\d|6[0-57-9]))([ .-])(?!00)\d\d\1(?!0000)\d{4}/g
const joinedPattern = /(?:00[1-9]|0[1-9]\d|[1-578]\d\d|6(?:[0-57-9]\d|6[0-57-9]))(?!00)\d\d(?!0000)\d{4}/g

function find(text: string, from: number): Span | undefined {
  const separated = findSeparated(text, from)
  const joined = findJoined(text, from)
  return joined === undefined || (separated !== undefined && separated.start < joined.start) ? separated : joined
}

function findSeparated(text: string, from: number): Span | undefined {
  separatedPattern.lastIndex = from
  for (let match = separatedPattern.exec(text); match !== null; match = separatedPattern.exec(text)) {
    const start = match.index
    const end = start + match[0].length
    if (isStandalone(text, start, end, text.charAt(start + 3))) return { start, end }
    separatedPattern.lastIndex = start + 1
  }
  return undefined
}

/** Nine plain digits count only after a word that announces them. */
function findJoined(text: string, from: number): Span | undefined {
  joinedPattern.lastIndex = from
  for (let match = joinedPattern.exec(text); match !== null; match = joinedPattern.exec(text)) {
    const start = match.index
    const end = start + 9
    if (
      isStandalone(text, start, end, '-') &&
      /\bssn\b|social security/i.test(text.slice(Math.max(0, start - 40), start))
    )
      return { start, end }
    while (isDigit(text.charCodeAt(joinedPattern.lastIndex))) joinedPattern.lastIndex++
  }
  return undefined
}

/** Not part of a longer word or number. */
function isStandalone(text: string, start: number, end: number, separator: string): boolean {
  if (isWord(text.charCodeAt(start - 1)) || isWord(text.charCodeAt(end))) return false
  const isJoined = (mark: string) => mark === separator || mark === '.' || mark === '-'
  if (isJoined(text.charAt(start - 1)) && text.charAt(start - 1) !== ' ' && isDigit(text.charCodeAt(start - 2)))
    return false
  return !(isJoined(text.charAt(end)) && text.charAt(end) !== ' ' && isDigit(text.charCodeAt(end + 1)))
}
