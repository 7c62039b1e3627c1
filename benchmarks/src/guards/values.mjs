const digits = '0123456789'
const lower = 'abcdefghijklmnopqrstuvwxyz'
const letters = lower + lower.toUpperCase()
const alnum = letters + digits
const hex = '0123456789abcdef'

const names =
  "jane dana omar li.wei sofia.rossi j.doe kai o'brien anna-lena marco_polo émile nguyen.thi x12 r2d2".split(' ')
const hosts =
  'example.com mail.example.co.uk acme.io uni-heidelberg.de company.travel münchen.de sub.domain.org post.gov.in'.split(
    ' ',
  )

/** A made-up value of each type. @type {Record<string, (r: ReturnType<typeof import('./random.mjs').random>) => string>} */
export const values = {
  email: (r) => `${r.pick(names)}${r.pick(['', '+news', r.chars(2, digits)])}@${r.pick(hosts)}`,
  card: (r) => grouped(r, withLuhn(r, r.pick(cardBegins))),
  iban: (r) => r.pick([(iban) => iban, (iban) => iban.replace(/.{4}(?=.)/g, '$& ')])(iban(r, r.pick(ibanForms))),
  ssn: (r) => `${ssnArea(r)}-${two(r)}-${String(1 + r.below(9998)).padStart(4, '0')}`,
  ip: (r) => (r.below(4) === 0 ? v6(r) : Array.from({ length: 4 }, () => 1 + r.below(254)).join('.')),
  phone: (r) => r.pick(phoneForms)(r),
  api_key: (r) => r.pick(keyForms)(r),
}

const cardBegins = [
  ['4', 16],
  ['4', 16],
  ['4', 13],
  ['51', 16],
  ['55', 16],
  ['2221', 16],
  ['34', 15],
  ['37', 15],
  ['6011', 16],
  ['65', 16],
  ['3528', 16],
  ['36', 14],
  ['5018', 12],
  ['6304', 12],
  ['6759', 16],
]

function withLuhn(r, [begin, length]) {
  const body = begin + r.chars(length - begin.length - 1, digits)
  const sum = [...body].reverse().reduce((sum, char, i) => {
    const digit = Number(char) * (i % 2 === 0 ? 2 : 1)
    return sum + (digit > 9 ? digit - 9 : digit)
  }, 0)
  return body + ((10 - (sum % 10)) % 10)
}

function grouped(r, number) {
  const separator = r.pick(['', '', ' ', '-'])
  if (separator === '' || number.length === 13) return number
  const sizes = number.length === 15 ? [4, 6, 5] : number.length === 14 ? [4, 6, 4] : Array(number.length / 4).fill(4)
  let at = 0
  return sizes.map((size) => number.slice(at, (at += size))).join(separator)
}

const ibanForms = [
  ['DE', 18, digits],
  ['FR', 23, digits],
  ['GB', 18, 'b'],
  ['NL', 14, 'b'],
  ['ES', 20, digits],
  ['NO', 11, digits],
  ['IT', 23, digits],
]

function iban(r, [country, length, form]) {
  const body = form === 'b' ? r.chars(4, lower.toUpperCase()) + r.chars(length - 4, digits) : r.chars(length, digits)
  const number = [...`${body}${country}00`].map((char) => Number.parseInt(char, 36)).join('')
  return `${country}${String(98n - (BigInt(number) % 97n)).padStart(2, '0')}${body}`
}

const ssnArea = (r) => String(1 + r.below(665)).padStart(3, '0')
const two = (r) => String(1 + r.below(99)).padStart(2, '0')
const v6 = (r) => {
  const groups = Array.from({ length: 8 }, () => r.chars(4, hex))
  return r.below(2) === 0 ? groups.join(':') : `2001:db8:${groups[0]}::${groups[1]}`
}

const line = (r, count) => String(1 + r.below(9)) + r.chars(count - 1, digits)
const us = (r) => [
  String(2 + r.below(8)) + r.chars(2, '2345678'),
  String(2 + r.below(8)) + r.chars(2, '2345678'),
  r.chars(4, digits),
]
/** As Faker writes them for some countries. */
const phoneForms = [
  (r) => us(r).join('-'),
  (r) => us(r).join('.'),
  (r) => `(${us(r)[0]})${r.pick(['', ' '])}${us(r)[1]}-${us(r)[2]}`,
  (r) => `+1-${us(r).join('-')}`,
  (r) => `001-${us(r).join('-')}`,
  (r) => `${us(r).join('-')}x${r.chars(3, digits)}`,
  (r) => `${us(r).join('.')} ext. ${r.chars(2, '123456789')}`,
  (r) => `+44 (0)20 ${line(r, 4)} ${line(r, 4)}`,
  (r) => `020 7${r.chars(3, digits)} ${line(r, 4)}`,
  (r) => `07700 9${r.chars(5, digits)}`,
  (r) => `+49 30 ${line(r, 6)}`,
  (r) => `0${r.pick(['30', '89', '221'])} ${line(r, 7)}`,
  (r) => `+33 1 42 ${r.chars(2, digits)} ${r.chars(2, digits)} ${r.chars(2, digits)}`,
  (r) => `01 42 ${r.chars(2, digits)} ${r.chars(2, digits)} ${r.chars(2, digits)}`,
  (r) => `(03) 9${r.chars(3, digits)} ${line(r, 4)}`,
  (r) => `0049 171 ${line(r, 7)}`,
]

/** As their vendors write them. */
const keyForms = [
  (r) => `ghp_${r.chars(36, alnum)}`,
  (r) => `gho_${r.chars(36, alnum)}`,
  (r) => `github_pat_${r.chars(22, alnum)}_${r.chars(59, alnum)}`,
  (r) => `glpat-${r.chars(20, `${alnum}_-`)}`,
  (r) => `glrt-${r.chars(20, alnum)}`,
  (r) => `AKIA${r.chars(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`,
  (r) => `sk-proj-${r.chars(74, alnum)}T3BlbkFJ${r.chars(74, alnum)}`,
  (r) => `sk-ant-api03-${r.chars(93, `${alnum}_-`)}AA`,
  (r) => `hf_${r.chars(34, letters)}`,
  (r) => `sk_live_${r.chars(24, alnum)}`,
  (r) => `xoxb-${r.chars(12, '123456789')}-${r.chars(12, '123456789')}-${r.chars(24, alnum)}`,
  (r) => `xapp-1-A${r.chars(10, alnum.toUpperCase())}-${r.chars(13, '123456789')}-${r.chars(64, hex)}`,
  (r) => `AIza${r.chars(35, alnum)}`,
  (r) => `npm_${r.chars(36, alnum)}`,
  (r) => `SG.${r.chars(22, alnum)}.${r.chars(43, alnum)}`,
  (r) => `eyJ${r.chars(33, alnum)}.eyJ${r.chars(r.pick([60, 4000]), alnum)}.${r.chars(43, `${alnum}_-`)}`,
  (r) => `dop_v1_${r.chars(64, hex)}`,
  (r) => `shpat_${r.chars(32, hex)}`,
]
