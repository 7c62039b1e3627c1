import { describe, expect, test } from 'vitest'
import { growth } from '../../../testing/test/growth.ts'
import { fits, issuesOf } from './kit.ts'

const list = <T>(length: number, of: (i: number) => T) => Array.from({ length }, (_, i) => of(i))
const keys = (count: number, of: (i: number) => string) => Object.fromEntries(list(count, (i) => [of(i), true]))
const ones = (n: number) => list(n, () => 1)
const lookahead = (i: number) => `(?=${i})`

describe('Parts of a schema that are cheap by themselves', () => {
  test.each([
    ['the same type again and again', (n: number) => ({ items: { type: list(n, () => 'null') } }), ones],
    ['true, in allOf', (n: number) => ({ items: { allOf: list(n, () => true) } }), ones],
    ['false, in anyOf', (n: number) => ({ items: { anyOf: list(n, () => false) } }), ones],
    ['false, in oneOf', (n: number) => ({ items: { oneOf: list(n, () => false) } }), ones],
    [
      'true, in prefixItems',
      (n: number) => ({
        items: { allOf: list(900, () => ({ $ref: '#/$defs/p' })) },
        $defs: { p: { prefixItems: list(n, () => true) } },
      }),
      (n: number) => list(n / 1_000, () => ones(n)),
    ],
    [
      'unchecked patterns, with properties',
      (n: number) => ({ items: { patternProperties: keys(n / 2, lookahead) } }),
      (n: number) => list(n, () => ({})),
    ],
    [
      'unchecked patterns, for names',
      (n: number) => ({ patternProperties: keys(n / 2, lookahead), additionalProperties: true }),
      (n: number) => keys(n, String),
    ],
  ])('take steps or no time: %s', async (_, schema, value) => {
    // Four times the schema and four times the value: work without a step would take sixteen times as long.
    expect(await growth((n) => issuesOf(schema(n), value(n)), 8_000, 32_000, 10)).toBeLessThan(10)
  })

  test('are checked as before', async () => {
    expect([
      await fits({ type: ['null', 'null', 'string'] }, 'x'),
      await fits({ type: ['null', 'null'] }, 'x'),
    ]).toEqual([true, false])
    const open = { patternProperties: { '(?=a)': true, '^b': true }, additionalProperties: false }
    expect([await fits(open, { b: 1 }), await fits(open, { c: 1 })]).toEqual([true, true])
    expect(await fits({ patternProperties: { '^b': true }, additionalProperties: false }, { c: 1 })).toBe(false)
  })
})
