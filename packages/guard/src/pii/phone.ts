import { type Detector, isDigit, isWord, runStart, type Span } from '@allium/shared/detect'

/** Phone numbers, with their extensions. */
export const phone: Detector = { type: 'phone', longest: 64, partialMatchStart, find }

const extension = String.raw`(?:[ ]?(?:x|ext\.?|extension|#)[ ]?\d{1,6})?`
const international = new RegExp(String.raw`\+[1-9](?:[ ()./-]{0,3}\d){6,14}${extension}`, 'y')
const internationalPrefix = new RegExp(
  String.raw`00[1-9]\d{0,2}[ ()./-]{1,3}\d(?:[ ()./-]{0,3}\d){5,12}${extension}`,
  'y',
)
const internationalPrefixCompact = /00(?:1|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|7|8[1246]|9[0-58])\d{8,11}(?!\d)/y
const northAmerican = new RegExp(
  String.raw`(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ ./-])[2-9]\d\d[ .-]\d{4}${extension}`,
  'y',
)
const national = new RegExp(
  String.raw`(?:\(0[1-9]\d{0,4}\)[ ./-]{0,2}|0[1-9]\d{0,4}[ ./-]{1,2})(?=(?:[ /.-]?\d){5,9}(?!\d))(?:[ /.-]?\d){5,9}${extension}`,
  'y',
)
const anyNumber = new RegExp(String.raw`(?:\+?(?:\(\d{1,5}\)[ ./-]{0,2})?\d(?:[ ()./-]{0,2}\d){5,14})${extension}`, 'y')

/** After such a word, any number of seven or more digits is a phone number. */
const announcement =
  /\b(?:phone|phones|tel|telephone|mobile|cell|cellphone|fax|whatsapp|sms|hotline|handy|tél|téléphone|telefon|telefono|teléfono|telefone|celular|call|dial|text|ring|reach)\b[^\d\n]{0,14}$/i

function find(text: string, from: number): Span | undefined {
  const first = /[+(\d]/g
  first.lastIndex = from
  for (let match = first.exec(text); match !== null; match = first.exec(text)) {
    const at = match.index
    const code = text.charCodeAt(at)
    const end =
      isWord(text.charCodeAt(at - 1)) || (isDigit(code) && isPartOfNumber(text, at)) ? undefined : phoneEnd(text, at)
    if (end !== undefined) return { start: at, end }
    if (!isDigit(code)) continue
    let next = at + 1
    while (isDigit(text.charCodeAt(next))) next++
    first.lastIndex = next
  }
  return undefined
}

function isPartOfNumber(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return (before === 46 || before === 45 || before === 47 || before === 44) && isDigit(text.charCodeAt(at - 2))
}

function phoneEnd(text: string, start: number): number | undefined {
  const code = text.charCodeAt(start)
  const next = text.charCodeAt(start + 1)
  if (!isDigit(next) && next !== 40 && (code !== 49 || (next !== 32 && next !== 45 && next !== 46))) return undefined
  if (code === 43) return matchEnd(international, text, start)
  if (code === 48 && next === 48)
    return (
      matchEnd(internationalPrefix, text, start) ??
      matchEnd(internationalPrefixCompact, text, start) ??
      announcedEnd(text, start)
    )
  const isNational = code === 48 || (code === 40 && next === 48)
  const end = isNational ? nationalEnd(text, start) : matchEnd(northAmerican, text, start)
  return end ?? announcedEnd(text, start)
}

/** At least nine digits, because a date has eight. */
function nationalEnd(text: string, start: number): number | undefined {
  const end = matchEnd(national, text, start)
  const digits = end === undefined ? '' : text.slice(start, end).replace(/(?:x|ext|#).*$|\D/g, '')
  return digits.length >= 9 && digits.length <= 12 ? end : undefined
}

/** Whether a preceding word announces a phone number. */
export function isAnnounced(text: string, start: number): boolean {
  return announcement.test(
    text.slice(
      runStart(text, start, 40, () => true),
      start,
    ),
  )
}

function announcedEnd(text: string, start: number): number | undefined {
  if (!isAnnounced(text, start)) return undefined
  const end = matchEnd(anyNumber, text, start)
  return end === undefined || isDate(text.slice(start, end)) ? undefined : end
}

const isDate = (candidate: string): boolean =>
  /^(?:\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4})(?!\d)/.test(candidate)

function matchEnd(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  if (!pattern.test(text)) return undefined
  const end = pattern.lastIndex
  return isWord(text.charCodeAt(end)) ? undefined : end
}

function partialMatchStart(text: string): number {
  const end = text.slice(-64)
  const at = end.search(/(?<![A-Za-z0-9])(?:\+?[( ]{0,2})?(?:\d[\d ()./#-]*(?:[xe#][a-z.]*[ ]?\d*)?)?$/)
  return at < 0 ? text.length : text.length - end.length + at
}
