import { describe, expect, it } from 'vitest'
import { withoutPatterns } from '../src/mcp/schema.ts'

const evil = { type: 'string', pattern: '^(a+)+$' }
const text = { type: 'string' }

describe("the schema of a server's tool", () => {
  it.each<[string, object, object]>([
    ['of a property', { properties: { a: evil } }, { properties: { a: text } }],
    ['in lists', { anyOf: [evil, { items: [evil] }] }, { anyOf: [text, { items: [text] }] }],
    [
      'in definitions',
      { $defs: { pattern: evil }, $ref: '#/$defs/pattern' },
      { $defs: { pattern: text }, $ref: '#/$defs/pattern' },
    ],
    ['of names', { propertyNames: evil }, { propertyNames: text }],
    [
      'under a keyword that nobody knows',
      { 'x-own': { a: evil }, $ref: '#/x-own/a' },
      { 'x-own': { a: text }, $ref: '#/x-own/a' },
    ],
    [
      'in data that a reference leads to',
      { default: evil, properties: { a: { $ref: '#/default' } } },
      { default: evil, properties: { a: {} } },
    ],
    ['in data, written otherwise', { enum: [evil], $ref: '#/%65num/0' }, { enum: [evil] }],
    ['for names of properties', { patternProperties: { '^(a+)+$': text }, additionalProperties: false }, {}],
  ])('loses patterns %s', (_, schema, clean) => {
    expect(withoutPatterns(schema as never)).toEqual(clean)
  })

  it('keeps properties that are called like keywords, and what is data', () => {
    const schema = {
      properties: { pattern: text, default: text, properties: { type: 'object', properties: { pattern: text } } },
      enum: [{ pattern: 'a' }],
      required: ['pattern'],
      $defs: { default: text },
      $ref: '#/$defs/default',
    }
    expect(withoutPatterns(schema as never)).toEqual(schema)
  })

  it('is refused where it is too deep', () => {
    let deep: object = evil
    for (let i = 0; i < 10_000; i++) deep = { not: deep }
    expect(() => withoutPatterns(deep as never)).toThrow('nested more than 100 levels')
  })
})
