import { describe, expect, it } from 'vitest'
import { ajvValidate } from '../src/index.ts'

describe('ajvValidate', () => {
  const validate = ajvValidate()
  const point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'], additionalProperties: false }

  it('finds nothing wrong with a value that fits', async () => {
    expect(await validate(point, { x: 1 })).toEqual([])
  })

  it('tells the first thing that is wrong, and where', async () => {
    expect(await validate(point, { x: 'one', y: 2 })).toHaveLength(1)
    expect(await validate(point, {})).toEqual([{ message: "must have required property 'x'" }])
    expect(await validate(point, { x: 'one' })).toEqual([{ message: 'must be number', path: ['x'] }])
  })

  it('tells paths through lists and odd keys', async () => {
    const schema = { properties: { 'a/b~c': { items: { type: 'string' } } } }
    expect(await validate(schema, { 'a/b~c': ['x', 1] })).toEqual([{ message: 'must be string', path: ['a/b~c', '1'] }])
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
    await expect(validate(schema, 1)).rejects.toThrow()
  })
})
