import { isWord, runStart } from '../chars.ts'
import type { Detector, Span } from '../detector.ts'
import { type KeyRule, keyRules } from './rules.ts'

/** Keys that are recognized by their prefix. */
export const vendorKeys: Detector = {
  type: 'api_key',
  longest: Number.POSITIVE_INFINITY,
  partialMatchStart: openKey,
  find: findKey,
}

/** Returns the start of the last word, because a key is one word together with the text directly before it. */
export function openKey(text: string): number {
  return runStart(text, text.length, text.length, isKeyCharacter)
}

function isKeyCharacter(code: number): boolean {
  return code > 32 && code < 127 && code !== 34 && code !== 39 && code !== 60 && code !== 62 && code !== 96
}

interface Beginning {
  readonly text: string
  readonly rule: KeyRule
  /** Whether no "-" or "_" may precede it. Keys that can contain these characters would otherwise be scanned repeatedly. */
  readonly standalone: boolean
}

/** The prefixes of keys by their first two characters, longer ones first. Created by the first text that needs it. */
let index: { pairs: Uint8Array; beginnings: ReadonlyMap<number, Beginning[]> } | undefined

function indexOfRules() {
  const pairs = new Uint8Array(1 << 14)
  const beginnings = new Map<number, Beginning[]>()
  for (const rule of keyRules) {
    const standalone = /\\w|-\]/.test(rule.rest.source)
    for (const text of rule.begins) {
      const same = beginnings.get(pairAt(text, 0)) ?? []
      beginnings.set(pairAt(text, 0), [...same, { text, rule, standalone }])
      pairs[pairAt(text, 0)] = 1
    }
  }
  for (const some of beginnings.values()) some.sort((a, b) => b.text.length - a.text.length)
  return { pairs, beginnings }
}

function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at) << 7) | text.charCodeAt(at + 1)
}

/** No key is shorter, and prose has few words this long. */
const minLength = 18
const isWordCharacter = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\w.~+/=@%-]/.test(String.fromCharCode(code)) ? 1 : 0,
)

/** Checks a position that every word of the minimum length must cover, and goes backwards from there, so most of a text is never read. */
function findKey(text: string, from: number): Span | undefined {
  for (let at = from; at + minLength <= text.length; ) {
    let last = at + minLength - 1
    while (last >= at && isWordCharacter[text.charCodeAt(last)] === 1) last--
    if (last >= at) {
      at = last + 1
      continue
    }
    let until = at + minLength
    while (until < text.length && isWordCharacter[text.charCodeAt(until)] === 1) until++
    const key = findInWord(text, at, until)
    if (key !== undefined) return key
    at = until + 1
  }
  return undefined
}

function findInWord(text: string, from: number, until: number): Span | undefined {
  index ??= indexOfRules()
  const { pairs, beginnings } = index
  for (let at = from; at <= until - minLength; at++) {
    const pair = pairAt(text, at)
    if (pairs[pair] !== 1) continue
    const end = keyEnd(text, at, beginnings.get(pair) as Beginning[])
    if (end !== undefined) return { start: at, end }
  }
  return undefined
}

function keyEnd(text: string, start: number, beginnings: readonly Beginning[]): number | undefined {
  const before = text.charCodeAt(start - 1)
  if (isWord(before)) return undefined
  const isWithin = before === 45 || before === 95
  for (const { text: begin, rule, standalone } of beginnings) {
    if ((standalone && isWithin) || !text.startsWith(begin, start)) continue
    const { rest } = rule
    rest.lastIndex = start + begin.length
    if (!rest.test(text) || isWord(text.charCodeAt(rest.lastIndex))) continue
    const end = rest.lastIndex
    if (isByChance(text.slice(start + begin.length, end), rule)) return end
  }
  return undefined
}

/** Whether a text looks random: not a placeholder or a word. */
function isByChance(rest: string, { entropy = 2.5, digit = false }: KeyRule): boolean {
  if (digit && !/\d/.test(rest)) return false
  return (
    !/x{5}|X{5}|your[-_]|abcdefghijklmnopqrstuvwxyz/.test(rest) &&
    entropyOf(rest) >= Math.min(entropy, Math.log2(rest.length) - 1)
  )
}

/** Returns the Shannon entropy in bits per character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
