import { type Detector, isDigit, isWord, runStart, type Span } from '@allium/shared/detect'
import { continuesNumber, groupsAt, partialNumberStart } from './numbers.ts'

/** Card numbers: recognized by network prefix, digit grouping and the Luhn checksum. */
export const card: Detector = { type: 'card', longest: 64, partialMatchStart: partialNumberStart, find }

function find(text: string, from: number): Span | undefined {
  const start = /\d{4}/g
  start.lastIndex = from
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const at = match.index
    const end = isWord(text.charCodeAt(at - 1)) || continuesNumber(text, at) ? undefined : cardEnd(text, at)
    if (end !== undefined) return { start: at, end }
    let next = at + 4
    while (isDigit(text.charCodeAt(next))) next++
    start.lastIndex = next
  }
  return undefined
}

/** Returns the end of the longest valid card number. */
function cardEnd(text: string, start: number): number | undefined {
  const groups = groupsAt(text, start, 5)
  const isInLines = /^[\r\n]/.test(text.slice(groups[0]?.end))
  // A longer column of numbers is none of a card.
  if (isInLines && /\d\s+$/.test(text.slice(Math.max(0, start - 4), start))) return undefined
  for (let count = groups.length; count > 0; count--) {
    if (isInLines && count < groups.length) return undefined
    const prefix = groups.slice(0, count)
    const shape = prefix.map(({ length }) => length).join(' ')
    const { end } = prefix.at(-1) as { end: number }
    const digits = prefix.map(({ digits }) => digits).join('')
    if (!isCardGrouping(shape) || !isOfNetwork(digits) || !luhn(digits) || isWord(text.charCodeAt(end))) continue
    if (text.charCodeAt(end) === 46 && isDigit(text.charCodeAt(end + 1))) continue // the integer part of a decimal number
    if (digits.length !== 13 || !isEan13(digits) || isCardContext(text, start)) return end
  }
  return undefined
}

/** The groupings that networks print; 4 4 4 4 3 has 19 digits, and some banks print 6 13. */
const isCardGrouping = (shape: string): boolean =>
  /^(?:1[2-9]|4 4 4(?: \d{1,4})?(?: [123])?|4 6 [45]|4 5 6|6 13|4 3 3 3|8 8|6 10)$/.test(shape)

/** The prefixes and lengths of each network's numbers. Source: ISO/IEC 7812, as listed by Wikipedia. */
const networks: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [13, 16, 19]], // Visa
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]], // Mastercard
  [/^3[47]/, [15]], // American Express
  [/^3(?:0[0-5]|095|[689])/, [14, 16, 19]], // Diners Club
  [/^(?:6011|64[4-9]|65|622)/, [16, 17, 18, 19]], // Discover
  [/^(?:2131|1800)/, [15]], // JCB
  [/^35/, [16, 17, 18, 19]],
  [/^(?:62|81)/, [16, 17, 18, 19]], // UnionPay
  [/^(?:50|5[6-8]|6304|639|67|0604)/, [12, 13, 14, 15, 16, 17, 18, 19]], // Maestro
  [/^(?:220[0-4])/, [16, 17, 18, 19]], // Mir
  [/^(?:60|82|9792|4571|5019|5078)/, [16]], // RuPay, Troy, Dankort, Elo
]

const isOfNetwork = (digits: string): boolean =>
  networks.some(([begins, lengths]) => lengths.includes(digits.length) && begins.test(digits))

function luhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48
    sum += i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

/** EAN-13, the number below a bar code. Old 13-digit card numbers look the same. */
function isEan13(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < 13; i++) sum += (digits.charCodeAt(i) - 48) * (i % 2 === 0 ? 1 : 3)
  return sum % 10 === 0
}

function isCardContext(text: string, start: number): boolean {
  return /card|visa|credit|debit|\bcc\b|pay/i.test(
    text.slice(
      runStart(text, start, 48, () => true),
      start,
    ),
  )
}
