import { describe, expect, it } from 'vitest'
import { ajvValidate } from '../src/index.ts'
import { interpretSchema } from '../src/validate/interpret-schema.ts'
import { validateBy } from '../src/validate.ts'

const silent = { warn() {}, error() {} }

describe.each([
  ['ajvValidate', ajvValidate(silent)],
  ['the check that makes no code from strings', validateBy(interpretSchema, silent)],
])('%s', (_, validate) => {
  const point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'], additionalProperties: false }

  it('finds nothing wrong with a value that fits', async () => {
    expect(await validate(point, { x: 1 })).toEqual([])
  })

  it('tells the first thing that is wrong, and where', async () => {
    expect(await validate(point, { x: 'one', y: 2 })).toHaveLength(1)
    expect(await validate(point, {})).toMatchObject([{ message: "must have required property 'x'" }])
    expect(await validate(point, { x: 'one' })).toEqual([{ message: 'must be number', path: ['x'] }])
  })

  it('tells paths through lists and odd keys', async () => {
    const schema = { properties: { 'a/b~c': { items: { type: 'string' } } } }
    const [issue] = await validate(schema, { 'a/b~c': ['x', 1] })
    expect([issue?.message, issue?.path?.map(String)]).toEqual(['must be string', ['a/b~c', '1']])
  })

  it('compiles a schema once', async () => {
    let reads = 0
    const schema = {
      get type() {
        reads++
        return 'object'
      },
    }
    await validate(schema, {})
    const before = reads
    await validate(schema, {})
    expect(reads).toBe(before)
  })

  it.each([
    ['draft 07', 'http://json-schema.org/draft-07/schema#', { items: [{ type: 'string' }] }],
    ['2020-12', 'https://json-schema.org/draft/2020-12/schema', { prefixItems: [{ type: 'string' }] }],
    ['no draft', undefined, { items: [{ type: 'string' }] }],
    ['a draft that nobody knows', 'https://example.com/draft', { items: [{ type: 'string' }] }],
  ])('reads a schema of %s', async (_, $schema, rest) => {
    const schema = { ...($schema !== undefined && { $schema }), type: 'array', ...rest }
    expect(await validate(schema, ['a'])).toEqual([])
    expect(await validate(schema, [1])).toHaveLength(1)
  })

  it('keeps schemas apart that share an $id', async () => {
    expect(await validate({ $id: 'same', type: 'string' }, 'a')).toEqual([])
    expect(await validate({ $id: 'same', type: 'number' }, 1)).toEqual([])
  })

  it('passes over formats and keywords that it does not know', async () => {
    expect(await validate({ type: 'string', format: 'email', 'x-order': 1 }, 'not an email')).toEqual([])
  })

  it('changes nothing in the value', async () => {
    const value = { x: '1' }
    await validate({ properties: { x: { type: 'number' }, y: { default: 1 } } }, value)
    expect(value).toEqual({ x: '1' })
  })

  it.each([
    ['that is asynchronous, whose promise would pass for a yes', { $async: true, type: 'string' }],
    ['that makes no sense', { type: 'nothing' }],
    ['that refers to what is not there', { $ref: 'https://example.com/other.json' }],
  ])('refuses a schema %s', async (_, schema) => {
    const told = Promise.resolve(validate(schema, 1)).catch((error: Error) => [error])
    expect(await told).not.toEqual([])
  })

  it.each([
    ['$ref', { $defs: { id: { type: 'integer' } }, properties: { a: { $ref: '#/$defs/id' } } }, { a: 1 }, { a: 1.5 }],
    ['anyOf', { anyOf: [{ type: 'null' }, { type: 'string', minLength: 2 }] }, 'ab', 'a'],
    ['enum', { enum: [{ format: 'email' }, 'b'] }, { format: 'email' }, {}],
    ['const', { const: { default: 1 } }, { default: 1 }, { default: 2 }],
    ['a property named format', { properties: { format: { const: 'pdf' } } }, { format: 'pdf' }, { format: 'doc' }],
    ['a property named enum', { properties: { enum: { type: 'string', format: 'uri' } } }, { enum: 'a' }, { enum: 1 }],
    ['pattern', { pattern: '^a+$' }, 'aa', 'b'],
    ['patternProperties', { patternProperties: { '^x': { type: 'null' } } }, { xa: null, b: 1 }, { xa: 1 }],
    ['if and else', { if: { required: ['a'] }, else: { required: ['b'] } }, { b: 1 }, { c: 1 }],
    ['dependencies', { dependencies: { a: ['b'] } }, { b: 1 }, { a: 1 }],
    ['uniqueItems', { uniqueItems: true }, [1, '1', [1]], [[1], [1]]],
    ['multipleOf', { multipleOf: 0.5 }, 1.5, 1.25],
    ['contains', { contains: { const: 2 } }, [1, 2], [1]],
    ['additionalItems', { items: [true], additionalItems: false }, [1], [1, 2]],
    ['false', { properties: { a: false } }, {}, { a: 1 }],
  ])('holds %s', async (_, schema, good, bad) => {
    expect(await validate(schema, good)).toEqual([])
    expect(await validate(schema, bad)).not.toEqual([])
  })
})

it('A schema that no code is made of is refused if it could only be checked in part, and the logger is told why once', async () => {
  const warnings: string[] = []
  const validate = validateBy(interpretSchema, { ...silent, warn: (line) => warnings.push(line) })
  const schema = { unevaluatedProperties: false }
  for (const value of [{}, 1])
    await expect(Promise.resolve(validate(schema, value))).rejects.toThrow('"unevaluatedProperties" cannot be checked')
  expect(warnings).toEqual([expect.stringMatching(/accepts no value: .* new Agent\(\{ validate \}\)/)])
})
