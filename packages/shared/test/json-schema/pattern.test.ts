import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, test } from 'vitest'
import { Budget } from '../../src/json-schema/check/budget.ts'
import { compile } from '../../src/json-schema/check/compile.ts'
import { Pattern } from '../../src/json-schema/pattern/pattern.ts'
import { Unsupported } from '../../src/json-schema/pattern/unsupported.ts'

const patternOf = (source: string) => new Pattern(source, RE2JS)
const matches = (source: string, text: string) => patternOf(source).test(text, new Budget(10_000_000))

describe('A pattern', () => {
  test('is an error while RE2 is not loaded, so that nothing passes unchecked', () => {
    const schema = { properties: { a: { pattern: '^a' } } }
    expect(() => compile(schema, { maxSubschemas: 10, hasInnerIds: false })).toThrow('RE2 is not loaded')
  })

  test.each([
    ['\\u0041', 'A', 'B'],
    ['^\\ud83d\\ude00$', '😀', '😁'],
    ['^\\u{1f600}$', '😀', '😁'],
    ['^\\x41\\cA$', 'A\x01', 'Aa'],
    ['^.$', '😀', '\u2028'],
    ['^\\s$', '\u00a0', '\u200b'],
    ['^\\S$', '\u200b', '\ufeff'],
    ['^[^\\S]$', ' ', 'a'],
    ['^[\\w-.]+$', 'a-b.c', 'a b'],
    ['^[[:alpha:]$', ':', 'x'],
    ['^[&&--]$', '&', 'x'],
    ['^\\/\\-\\@$', '/-@', '/-'],
    ['^a{,2}$', 'a{,2}', 'aa'],
    ['^\\p{Lu}\\P{Lu}$', 'Ää', 'ää'],
    ['^(?<year>\\d{4})-(?:0|1)\\d$', '2026-11', '２０２６-11'],
    ['^$', '', '\n'],
    ['a$', 'ba', 'a\n'],
    ['[^]', '\n', ''],
    ['^[\\b]$', '\b', 'b'],
    ['\\bfoo\\b', 'a foo', 'afoo'],
    ['^a??b$', 'ab', 'aab'],
    ['^\\Qa\\E$', undefined, 'a'],
  ])('%s means what it means in ECMAScript', (source, yes, no) => {
    if (yes === undefined) return expect(() => patternOf(source)).toThrow(Unsupported)
    expect([matches(source, yes), matches(source, no)]).toEqual([true, false])
  })

  test.each([
    ['a lookahead', '(?=a)'],
    ['a negative lookahead', '(?!a)'],
    ['a lookbehind', '(?<=a)b'],
    ['a back reference', '(a)\\1'],
    ['a named back reference', '(?<x>a)\\k<x>'],
    ['half of a surrogate pair', '\\ud83d'],
    ['a modifier', '(?i:a)'],
    ['a flag of RE2', '(?i)a'],
    ['an escape of RE2', '\\Aa\\z'],
    ['a property of Unicode', '\\p{Script=Greek}'],
    ['too many repetitions', 'a{1001}'],
    ['repetitions of repetitions', '(a{1000}){1000}'],
    ['repetitions of little', '(a{2}){501}'],
    ['repetitions of nothing', '((){1000}){1000}'],
    ['large choices', '(a{0,900}|b{0,900}){5}'],
    ['too many characters', 'a'.repeat(1_001)],
    ['groups that nest', `${'('.repeat(60)}${')'.repeat(60)}`],
    ['what is no pattern', '(a'],
    ['a quantifier of nothing', '*a'],
  ])('with %s is not supported', (_, source) => {
    expect(() => patternOf(source)).toThrow(Unsupported)
  })
})

const atoms = [
  'a',
  'b',
  '\\d',
  '\\s',
  '.',
  '[a-c]',
  '[^b\\d]',
  '\\w',
  '\\u0062',
  '-',
  '\\.',
  'é',
  '😀',
  '[\\W]',
  '\\p{L}',
  '^',
  '$',
  '\\b',
]
const quantifiers = ['', '', '', '*', '+', '?', '{2}', '{1,3}', '*?', '{0,}']
const pattern = fc.letrec<{ pattern: string; sequence: string; term: string }>((tie) => ({
  term: fc
    .tuple(
      fc.oneof(
        { maxDepth: 2 },
        fc.constantFrom(...atoms),
        tie('pattern').map((p) => `(${p})`),
      ),
      fc.constantFrom(...quantifiers),
    )
    .map(([atom, quantifier]) => (/^(\^|\$|\\b)$/.test(atom) ? atom : atom + quantifier)),
  sequence: fc.array(tie('term'), { maxLength: 4 }).map((terms) => terms.join('')),
  pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((all) => all.join('|')),
})).pattern
/** RegExp backtracks: with more repeated groups it may need years for six characters. */
const comparable = pattern.filter((source) => (source.match(/\)[*+?{]/g) ?? []).length <= 2)
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' ', '.', '-', '\n', 'é', '😀'), maxLength: 6 })

test('A pattern of the subset matches what RegExp matches', () => {
  fc.assert(
    fc.property(comparable, text, (source, value) => {
      expect(matches(source, value)).toBe(new RegExp(source, 'u').test(value))
    }),
    { numRuns: 500 },
  )
})

test('Any text is a pattern that matches in a counted number of steps, or is none', () => {
  const wild = fc.string({ unit: fc.constantFrom(...'ab()[]{}*+?|^$.\\-,019upxk<>=!:&~'), maxLength: 30 })
  fc.assert(
    fc.property(wild, text, (source, value) => {
      try {
        matches(source, value)
      } catch (error) {
        expect(error).toBeInstanceOf(Unsupported)
      }
    }),
    { numRuns: 5_000 },
  )
})
