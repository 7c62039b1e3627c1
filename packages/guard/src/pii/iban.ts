import { type Detector, isWord, type Span } from '@allium/shared/detect'

/** International bank account numbers: found by two letters and two digits. */
export const iban: Detector = { type: 'iban', longest: 50, partialMatchStart, find }

/** The length per country, from the IBAN registry. */
const lengths = new Map(
  'AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30'
    .match(/.{4}/g)
    ?.map((entry) => [entry.slice(0, 2), Number(entry.slice(2))] as const),
)

function find(text: string, from: number): Span | undefined {
  const start = /\d\d/g // digits are rarer than letters
  start.lastIndex = from
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const at = match.index - 2
    start.lastIndex = match.index + 1
    if (at < from || !/^[A-Za-z]{2}$/.test(text.slice(at, at + 2)) || isWord(text.charCodeAt(at - 1))) continue
    const length = lengths.get(text.slice(at, at + 2).toUpperCase())
    const end = length === undefined ? undefined : ibanEnd(text, at, length)
    if (end !== undefined) return { start: at, end }
  }
  return undefined
}

function ibanEnd(text: string, start: number, length: number): number | undefined {
  let compact = ''
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isWord(code)) compact += text[at]
    else if ((code !== 32 && code !== 45 && code !== 46) || !isWord(text.charCodeAt(at + 1))) return undefined
    if (compact.length === length) return !isWord(text.charCodeAt(at + 1)) && mod97(compact) ? at + 1 : undefined
  }
  return undefined
}

function mod97(compact: string): boolean {
  let rest = 0
  for (const char of compact.slice(4) + compact.slice(0, 4)) {
    const value = Number.parseInt(char, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

function partialMatchStart(text: string): number {
  const end = text.slice(-50)
  const at = end.search(/(?<![A-Za-z0-9])[A-Za-z](?:[A-Za-z](?:\d(?:\d[0-9A-Za-z .-]*)?)?)?$/)
  return at < 0 ? text.length : text.length - end.length + at
}
