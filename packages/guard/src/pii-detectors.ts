import type { Detector, Span } from './detector.ts'

/** What `guard.pii` finds by itself. */
export type PiiType = 'email' | 'phone' | 'card' | 'iban' | 'ip' | 'ssn' | 'api_key'

/**
 * Detectors whose time grows with the length of the text and nothing else: each looks for what its finding must have
 * (an @, a digit, a prefix), and from there at no more characters than the longest finding has.
 */
export const piiDetectors: Readonly<Record<PiiType, Detector>> = {
  api_key: { type: 'api_key', longest: 2_100, tail: /[^\s"'`<>]+$/, find: findKey },
  email: { type: 'email', longest: 330, tail: /[^\s"'`<>()]+$/, find: findEmail },
  iban: {
    type: 'iban',
    longest: 46,
    tail: /(?<![A-Za-z0-9])[A-Za-z](?:[A-Za-z](?:\d(?:\d[0-9A-Za-z -]*)?)?)?$/,
    find: findIban,
  },
  card: {
    type: 'card',
    longest: 40,
    tail: /(?<![A-Za-z0-9])\d[\d -]*$/,
    find: (text, from) => findDigits(text, from, cardAt),
  },
  ssn: {
    type: 'ssn',
    longest: 12,
    tail: /(?<![A-Za-z0-9])\d[\d -]*$/,
    find: (text, from) => findDigits(text, from, ssnAt),
  },
  phone: { type: 'phone', longest: 32, tail: /(?<![A-Za-z0-9])[+(]*(?:\d[\d ()./-]*)?$/, find: findPhone },
  ip: { type: 'ip', longest: 48, tail: /[0-9A-Fa-f:.]+$/, find: findIp },
}

// Characters

const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
const isWord = (code: number): boolean => isDigit(code) || isLetter(code)
const in_ = (chars: string) => (code: number) => chars.includes(String.fromCharCode(code))
const isLocal = (code: number): boolean => isWord(code) || localMark(code) || code > 127
const localMark = in_("._%+-!#$&*/=?^{|}~'")

/** The end of the run of such characters, after `most` of them at the latest. */
function runEnd(text: string, from: number, most: number, fits: (code: number) => boolean): number {
  const last = Math.min(text.length, from + most)
  let at = from
  while (at < last && fits(text.charCodeAt(at))) at++
  return at
}

// Email addresses: around each @

function findEmail(text: string, from: number): Span | undefined {
  for (let at = text.indexOf('@', from); at >= 0; at = text.indexOf('@', at + 1)) {
    const start = localStart(text, from, at)
    const end = domainEnd(text, at + 1)
    if (start < at && end > at) return { start, end }
  }
  return undefined
}

function localStart(text: string, from: number, at: number): number {
  let start = at
  while (start > from && at - start < 64 && isLocal(text.charCodeAt(start - 1))) start--
  while (start < at && !isWord(text.charCodeAt(start)) && text.charCodeAt(start) < 128) start++
  return start
}

/** -1 unless a name with a dot and a top level of letters follows. */
function domainEnd(text: string, from: number): number {
  let end = -1
  let at = from
  for (let labels = 0; labels < 10; labels++) {
    const label = runEnd(text, at, 63, (code) => isWord(code) || code === 45 || code > 127)
    if (label === at) break
    const top = text.slice(at, label).replace(/-+$/, '')
    if (labels > 0 && /^(?:[A-Za-z]{2,}|xn--[A-Za-z0-9-]+|[^\0-\x7f]{2,})$/.test(top)) end = at + top.length
    if (text.charCodeAt(label) !== 46) break
    at = label + 1
  }
  return end
}

// Keys: after each prefix

const keyPrefix =
  /(?<![A-Za-z0-9_-])(?:sk-|sk_live_|sk_test_|rk_live_|rk_test_|pk_live_|whsec_|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|ya29\.|npm_|hf_|SG\.|eyJ)/g

function findKey(text: string, from: number): Span | undefined {
  const prefix = new RegExp(keyPrefix)
  prefix.lastIndex = from
  for (let match = prefix.exec(text); match !== null; match = prefix.exec(text)) {
    const isToken = match[0] === 'eyJ'
    const start = match.index + match[0].length
    const end = keyEnd(text, start, isToken ? 2_000 : 512)
    const key = text.slice(start, end)
    if (isToken ? key.length >= 30 && key.split('.').length > 2 : key.length >= 16 && /\d/.test(key))
      return { start: match.index, end }
    prefix.lastIndex = Math.max(end, start) // what begins in between would end there too
  }
  return undefined
}

/** Without the dot of a sentence. */
function keyEnd(text: string, from: number, most: number): number {
  let end = runEnd(text, from, most, (code) => isWord(code) || code === 45 || code === 46 || code === 95)
  while (end > from && text.charCodeAt(end - 1) === 46) end--
  return end
}

// Numbers: at the first digit of each group

type At = (text: string, start: number) => number | undefined

function findDigits(text: string, from: number, endAt: At): Span | undefined {
  for (let at = from; at < text.length; at++) {
    if (!isDigit(text.charCodeAt(at)) || isWord(text.charCodeAt(at - 1))) continue
    const end = endAt(text, at)
    if (end !== undefined) return { start: at, end }
    at = runEnd(text, at, text.length, isDigit) - 1
  }
  return undefined
}

/** Digits, single spaces or dashes between groups: the longest number of 13 to 19 that Luhn's formula takes. */
function cardAt(text: string, start: number): number | undefined {
  const first = text.charCodeAt(start)
  if (first < 50 || first > 54) return undefined
  let sum = 0 // with each second digit from the last one doubled
  let other = 0 // with the others doubled
  let end: number | undefined
  for (let at = start, count = 0; count < 19; at++) {
    const code = text.charCodeAt(at)
    if (isDigit(code)) {
      const digit = code - 48
      const doubled = digit > 4 ? digit * 2 - 9 : digit * 2
      ;[sum, other] = [other + digit, sum + doubled]
      count++
      if (count >= 13 && sum % 10 === 0 && !isWord(text.charCodeAt(at + 1))) end = at + 1
    } else if ((code !== 32 && code !== 45) || !isDigit(text.charCodeAt(at + 1))) break
  }
  return end
}

/** Of the shape 123-45-6789, with numbers that were ever given out. */
function ssnAt(text: string, start: number): number | undefined {
  const gap = text.charCodeAt(start + 3)
  if ((gap !== 32 && gap !== 45) || text.charCodeAt(start + 6) !== gap) return undefined
  const match = /^(?!000|666|9)\d{3}([ -])(?!00)\d\d\1(?!0000)\d{4}(?![0-9A-Za-z]|-\d)/.exec(
    text.slice(start, start + 13),
  )
  const before = text.charCodeAt(start - 1)
  return match === null || (before === 45 && isDigit(text.charCodeAt(start - 2))) ? undefined : start + 11
}

const international = /\+[1-9](?:[ ()./-]{0,3}\d){6,14}/y
const northAmerican = /(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .-])[2-9]\d\d[ .-]\d{4}/y
const national = /\(?0[1-9]\d{1,4}\)?[ /-](?=(?:[ /-]?\d){6,9}(?!\d))(?:[ /-]?\d){6,9}/y

function findPhone(text: string, from: number): Span | undefined {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code !== 43 && code !== 40 && !isDigit(code)) continue
    if (isWord(text.charCodeAt(at - 1)) || (isDigit(code) && isPartOfNumber(text, at))) continue
    const end = phoneEnd(text, at)
    if (end !== undefined) return { start: at, end }
    if (isDigit(code)) at = runEnd(text, at, text.length, isDigit) - 1
  }
  return undefined
}

function isPartOfNumber(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return (before === 46 || before === 45 || before === 47) && isDigit(text.charCodeAt(at - 2))
}

function phoneEnd(text: string, start: number): number | undefined {
  const code = text.charCodeAt(start)
  const next = text.charCodeAt(start + 1)
  if (code !== 48 && !isDigit(next) && (code !== 49 || (next !== 32 && next !== 45 && next !== 46))) return undefined
  if (code === 43) return matchEnd(international, text, start)
  const isNational = code === 48 || (code === 40 && next === 48)
  return matchEnd(isNational ? national : northAmerican, text, start)
}

function matchEnd(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  if (!pattern.test(text)) return undefined
  const end = pattern.lastIndex
  return isWord(text.charCodeAt(end)) ? undefined : end
}

// IBANs: at two letters and two digits

/** The length by country, of the IBAN registry. */
const ibanLengths = new Map(
  'AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27GB22GE22GI23GL18GR27GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30'
    .match(/.{4}/g)
    ?.map((entry) => [entry.slice(0, 2), Number(entry.slice(2))] as const),
)

function findIban(text: string, from: number): Span | undefined {
  const start = /(?<![A-Za-z0-9])[A-Za-z]{2}\d\d/g
  start.lastIndex = from
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const length = ibanLengths.get(match[0].slice(0, 2).toUpperCase())
    const end = length === undefined ? undefined : ibanEnd(text, match.index, length)
    if (end !== undefined) return { start: match.index, end }
  }
  return undefined
}

function ibanEnd(text: string, start: number, length: number): number | undefined {
  let iban = ''
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isWord(code)) iban += text[at]
    else if ((code !== 32 && code !== 45) || !isWord(text.charCodeAt(at + 1))) return undefined
    if (iban.length === length) return !isWord(text.charCodeAt(at + 1)) && mod97(iban) ? at + 1 : undefined
  }
  return undefined
}

function mod97(iban: string): boolean {
  let rest = 0
  for (const char of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(char, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

// IP addresses: runs of digits, dots and colons

function findIp(text: string, from: number): Span | undefined {
  const run = /[0-9A-Fa-f]{0,4}[:.][0-9A-Fa-f:.]+/g
  run.lastIndex = from
  for (let match = run.exec(text); match !== null; match = run.exec(text)) {
    if (match[0].length < 3) continue
    const runStart = match.index - runBefore(text, match.index)
    const { address, skipped } = trimmed(text.slice(runStart, match.index + match[0].length))
    const start = runStart + skipped
    const end = start + address.length
    const isAlone = start >= from && !isWord(text.charCodeAt(start - 1)) && !isWord(text.charCodeAt(end))
    if (isAlone && (isV4(address) || isV6(address))) return { start, end }
  }
  return undefined
}

/** How much of a run stands before a place of it, as far as an address may reach. */
function runBefore(text: string, at: number): number {
  let start = at
  while (at - start < 48 && /[0-9A-Fa-f:.]/.test(text.charAt(start - 1))) start--
  return at - start
}

/** Without the punctuation around it. */
function trimmed(run: string): { address: string; skipped: number } {
  if (run.length > 96) return { address: '', skipped: 0 }
  const skipped = /^(?:\.|:(?!:))*/.exec(run)?.[0].length ?? 0
  return { address: run.slice(skipped).replace(/(?:\.|(?<!:):)+$/, ''), skipped }
}

function isV4(address: string): boolean {
  return (
    address.length <= 15 &&
    /^\d+\.\d+\.\d+\.\d+$/.test(address) &&
    address.split('.').every((part) => Number(part) < 256)
  )
}

function isV6(address: string): boolean {
  if (address.length > 45 || address.indexOf('::') !== address.lastIndexOf('::') || !/[0-9A-Fa-f]/.test(address))
    return false
  const groups = address.split(':')
  const last = groups.at(-1) as string
  const tail = last.includes('.') ? (isV4(last) ? 2 : 9) : 1
  const count = groups.length - 1 + tail
  const short = address.includes('::')
  const fits = groups.slice(0, last.includes('.') ? -1 : undefined).every((group) => group.length <= 4)
  return fits && (short ? count <= 9 && groups.length > 3 : count === 8 && groups.every((group) => group !== ''))
}
