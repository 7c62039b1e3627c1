import { type Detector, isDigit, isWord, runStart, type Span } from '@allium/shared/detect'

const isHex = (code: number): boolean => isDigit(code) || ((code | 32) >= 97 && (code | 32) <= 102)
const isAddressCharacter = (code: number): boolean => isHex(code) || code === 46 || code === 58
const isPartialCharacter = (code: number): boolean => isAddressCharacter(code) || code === 47
const partialMatchStart = (text: string): number => runStart(text, text.length, 60, isPartialCharacter)

/** IPv4 and IPv6 addresses. */
export const ip: readonly Detector[] = [
  { type: 'ip', longest: 60, partialMatchStart, find: findV4 },
  { type: 'ip', longest: 60, partialMatchStart, find: findV6 },
]

function findV4(text: string, from: number): Span | undefined {
  const v4Pattern = /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}/g
  v4Pattern.lastIndex = from
  for (let match = v4Pattern.exec(text); match !== null; match = v4Pattern.exec(text)) {
    const start = match.index
    const end = start + match[0].length
    if (isAlone(text, start, end) && isV4(match[0]) && !isVersion(text, start, end)) return { start, end }
    v4Pattern.lastIndex = end
  }
  return undefined
}

/** Not part of a word, nor of more than four numbers. */
function isAlone(text: string, start: number, end: number): boolean {
  if (isWord(text.charCodeAt(start - 1)) || isWord(text.charCodeAt(end))) return false
  const isMore = (dot: number, digit: number) => text.charCodeAt(dot) === 46 && isDigit(text.charCodeAt(digit))
  return !isMore(start - 1, start - 2) && !isMore(end, end + 1)
}

function isV4(address: string): boolean {
  if (address.length > 15 || !/^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address)) return false
  return address.split('.').every((part) => Number(part) < 256 && (part.length === 1 || part[0] !== '0'))
}

/** Four single digits are a version or a section, unless the context says that they are an address. */
function isVersion(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 40), start).toLowerCase()
  if (/(?:\b(?:v|ver|version|versions|release|rel|section|chapter|tag|semver)[\s.:="'`]*|[~^]|[=<>]=)$/.test(before))
    return true
  const isShort = end - start === 7
  if (!isShort || /^(?::\d{2,5}|\/\d)/.test(text.slice(end, end + 6))) return false
  return !/\b(?:ip|ips|ipv4|dns|host|hosts|addr|address|addresses|server|servers|nameserver|gateway|router|client|peer|ping|from|remote|subnet|curl|ssh|resolver)\b|\/\/$/.test(
    before,
  )
}

function findV6(text: string, from: number): Span | undefined {
  const mark = /:[0-9A-Fa-f]{0,4}:/g
  mark.lastIndex = from
  for (let match = mark.exec(text); match !== null; match = mark.exec(text)) {
    const runBegin = runStart(text, match.index + 1, 60, isAddressCharacter)
    const run = /[0-9A-Fa-f:.]*/y
    run.lastIndex = match.index
    run.test(text)
    const { lastIndex: runEnd } = run
    mark.lastIndex = Math.max(runEnd, match.index + 1)
    const { start, end } = trimSpan(text, runBegin, runEnd)
    const isFree = start >= from && !isWord(text.charCodeAt(start - 1)) && !isWord(text.charCodeAt(end))
    if (isFree && isV6(text.slice(start, end))) return { start, end }
  }
  return undefined
}

/** Trims surrounding punctuation, and hex letters that end a word of another alphabet. */
function trimSpan(text: string, from: number, runEnd: number): Span {
  if (runEnd - from > 96) return { start: from, end: from }
  let [start, end] = [from, runEnd]
  const word = /\p{L}/u.test(text.charAt(start - 1)) ? /^[A-Fa-f]+(?=:)/.exec(text.slice(start, end)) : null
  if (word !== null) start += word[0].length
  while (start < end && isEdge(text, start, start + 1)) start++
  while (end > start && isEdge(text, end - 1, end - 2)) end--
  return { start, end }
}

/** Whether the character is a dot, or a single colon. */
function isEdge(text: string, at: number, inward: number): boolean {
  const code = text.charCodeAt(at)
  return code === 46 || (code === 58 && text.charCodeAt(inward) !== 58)
}

function isV6(address: string): boolean {
  if (address.length > 45 || address.indexOf('::') !== address.lastIndexOf('::')) return false
  const groups = address.split(':')
  const last = groups.at(-1) as string
  const tail = last.includes('.') ? (isV4(last) ? 2 : 9) : 1
  const count = groups.length - 1 + tail
  const short = address.includes('::')
  const plain = groups.slice(0, last.includes('.') ? -1 : undefined)
  if (!plain.every((group) => /^[0-9A-Fa-f]{0,4}$/.test(group))) return false
  if (!short) return count === 8 && groups.every((group) => group !== '')
  return (
    count <= 9 && /\d/.test(address) && (groups.length > 3 || address === '::1' || (groups[0] as string).length > 2)
  )
}
