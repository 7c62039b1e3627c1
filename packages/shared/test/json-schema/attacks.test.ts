import { describe, expect, test } from 'vitest'
import { untrustedSchema } from '../../src/json-schema.ts'
import { fits, issuesOf, stepsOf } from './kit.ts'

/** Steps are counted, not milliseconds: a million of them are the most that a check may take. */
const most = 1_000_000
const evil = `${'a'.repeat(40)}!`

function nested(levels: number, wrap: (inner: unknown) => unknown, inner: unknown): unknown {
  let value = inner
  for (let level = 0; level < levels; level++) value = wrap(value)
  return value
}

describe('A schema that attacks takes few steps', () => {
  test.each([
    ['a pattern that backtracks', { pattern: '^(a+)+$' }, evil],
    ['nested stars', { pattern: '^((a*)*)*$' }, evil],
    ['overlapping choices', { pattern: '^(a|a|aa)+$' }, evil],
    ['a pattern of names', { propertyNames: { pattern: '^(a+)+$' } }, { [evil]: 1 }],
    ['a pattern for properties', { patternProperties: { '^(a+)+$': false } }, { [evil]: 1 }],
    ['a multiple of a float', { multipleOf: 5e-324 }, 1e308],
    ['15,000 unique objects', { uniqueItems: true }, Array.from({ length: 15_000 }, (_, id) => ({ id, at: { id } }))],
    ['a reference to itself by members', { items: { $ref: '#' } }, nested(90, (inner) => [inner], 1)],
  ])('%s', (_, schema, value) => {
    const { steps, givenUp } = stepsOf(schema, value)
    expect(steps).toBeLessThan(500_000)
    expect(givenUp).toBe(false)
  })
})

/** Each definition refers twice to the next one. */
const bomb = {
  $ref: '#/$defs/0',
  $defs: Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [i, { allOf: [{ $ref: `#/$defs/${i + 1}` }, { $ref: `#/$defs/${i + 1}` }] }]),
  ),
}

describe('A check that would take too many steps is given up, and refuses the value', () => {
  test.each([
    ['a reference to itself', { $ref: '#' }, 1],
    ['references in a circle', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, 1],
    ['a reference to itself in a choice', { anyOf: [{ $ref: '#' }, { $ref: '#' }] }, 1],
    ['a reference to itself in not', { not: { $ref: '#' } }, 1],
    ['a bomb of references', { ...bomb, $defs: { ...bomb.$defs, 50: {} } }, 1],
    [
      'a huge enum for many items',
      { not: { contains: { enum: Array.from({ length: 20_000 }, (_, i) => i) } } },
      Array(1_000).fill(-1),
    ],
    ['data that nests too deep', { uniqueItems: true }, [nested(100_000, (inner) => [inner], 1)]],
    ['a long text for a large pattern', { pattern: '(x.{0,900}){0,1}y' }, 'x'.repeat(10_000)],
    [
      'many patterns',
      { allOf: Array.from({ length: 4_000 }, (_, i) => ({ pattern: `a{9}${i}|` })) },
      'x'.repeat(1_000),
    ],
  ])('%s', async (_, schema, value) => {
    const { steps, givenUp } = stepsOf(schema, value)
    expect([givenUp, steps <= most]).toEqual([true, true])
    expect((await issuesOf(schema, value))[0]?.message).toMatch(/cannot be (checked|compared)/)
  })
})

describe('A schema is refused', () => {
  test.each([
    ['that is too large', { enum: ['x'.repeat(300_000)] }, '262144 bytes'],
    ['whose characters take too many bytes', { enum: ['€'.repeat(100_000)] }, '262144 bytes'],
    [
      'with too many names',
      { properties: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [i, true])) },
      '262144 bytes',
    ],
    ['that nests too deep', nested(10_000, (not) => ({ not }), {}), '100 levels'],
    ['that contains itself', circle(), '100 levels'],
    ['with too many schemas', { allOf: Array.from({ length: 6_000 }, () => ({})) }, '5000 schemas'],
  ])('%s', async (_, schema, words) => {
    await expect(untrustedSchema(schema as never)).rejects.toThrow(
      expect.objectContaining({ code: 'schema.limits', message: expect.stringContaining(words) }),
    )
  })

  test('by other limits, where these are given', async () => {
    const limits = { maxBytes: 20, maxDepth: 2, maxSubschemas: 2, maxSteps: 5 }
    await expect(untrustedSchema({ title: 'x'.repeat(20) }, limits)).rejects.toThrow('20 bytes')
    const few = await untrustedSchema({ minItems: 1, items: {} }, { maxSteps: 5 })
    const { issues } = few['~standard'].validate([1, 2, 3]) as never
    expect(issues).toEqual([{ message: expect.stringContaining('more than 5 steps'), path: [] }])
  })
})

describe('Keys that reach a prototype', () => {
  test('are keys like others, in the schema and in the value', async () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"number"}},"additionalProperties":false}')
    expect(await fits(schema, JSON.parse('{"__proto__":1}'))).toBe(true)
    expect(await fits(schema, JSON.parse('{"__proto__":"x"}'))).toBe(false)
    expect(await fits(schema, JSON.parse('{"constructor":1}'))).toBe(false)
    expect(await fits({ $ref: '#/__proto__/x' }, 1)).toBe(true)
    expect(({} as Record<string, unknown>).type).toBeUndefined()
  })
})

function circle(): object {
  const schema: Record<string, unknown> = {}
  schema.not = schema
  return schema
}
