import { describe, expect, test } from 'vitest'
import { fits, issuesOf } from './kit.ts'

const list = <T>(length: number, of: (i: number) => T) => Array.from({ length }, (_, i) => of(i))
const keys = (count: number, of: (i: number) => string) => Object.fromEntries(list(count, (i) => [of(i), true]))
const ones = list(30_000, () => 1)
const lookahead = (i: number) => `(?=${i})`

describe('Parts of a schema that are cheap by themselves', () => {
  test.each([
    ['the same type again and again', { items: { type: list(30_000, () => 'null') } }, ones],
    ['true, in allOf', { items: { allOf: list(30_000, () => true) } }, ones],
    ['false, in anyOf', { items: { anyOf: list(30_000, () => false) } }, ones],
    ['false, in oneOf', { items: { oneOf: list(30_000, () => false) } }, ones],
    [
      'true, in prefixItems',
      {
        items: { allOf: list(900, () => ({ $ref: '#/$defs/p' })) },
        $defs: { p: { prefixItems: list(20_000, () => true) } },
      },
      list(20, () => list(20_000, () => 1)),
    ],
    [
      'patterns that nobody checks, with properties',
      { items: { patternProperties: keys(15_000, lookahead) } },
      list(30_000, () => ({})),
    ],
    [
      'patterns that nobody checks, for names',
      { patternProperties: keys(15_000, lookahead), additionalProperties: true },
      keys(30_000, String),
    ],
  ])('take steps or no time: %s', (_, schema, value) => {
    const start = process.cpuUsage()
    issuesOf(schema, value)
    const { user } = process.cpuUsage(start)
    expect(user / 1000).toBeLessThan(1_000)
  })

  test('are checked as before', () => {
    expect([fits({ type: ['null', 'null', 'string'] }, 'x'), fits({ type: ['null', 'null'] }, 'x')]).toEqual([
      true,
      false,
    ])
    const open = { patternProperties: { '(?=a)': true, '^b': true }, additionalProperties: false }
    expect([fits(open, { b: 1 }), fits(open, { c: 1 })]).toEqual([true, true])
    expect(fits({ patternProperties: { '^b': true }, additionalProperties: false }, { c: 1 })).toBe(false)
  })
})
