import { describe, expect, test } from 'vitest'
import { untrustedSchema } from '../../src/json-schema.ts'
import { issuesOf } from './kit.ts'

const text = { type: 'string' }

async function shown(schema: Record<string, unknown>): Promise<unknown> {
  const read = (await untrustedSchema(JSON.parse(JSON.stringify(schema))))['~standard'] as unknown as {
    jsonSchema: { input(): unknown }
  }
  return read.jsonSchema.input()
}

describe('The definitions of a schema', () => {
  test('that nothing refers to are left out', async () => {
    const used = { properties: { a: { $ref: '#/$defs/list' } } }
    const list = { items: { $ref: '#/definitions/name%2Fof~1a' } }
    const given = {
      ...used,
      $defs: { list, other: { $ref: '#/$defs/third' }, third: text },
      definitions: { 'name/of/a': text, unused: text },
    }
    expect(await shown(given)).toEqual({ ...used, $defs: { list }, definitions: { 'name/of/a': text } })
    expect(await shown({ type: 'object', $defs: { a: text } })).toEqual({ type: 'object', $defs: {} })
  })

  test('that refer to each other or to the root stay, and are checked', async () => {
    const tree = { properties: { next: { $ref: '#/$defs/node' }, root: { $ref: '#' } } }
    const schema = { ...tree, $defs: { node: { required: ['v'], ...tree }, lost: { $ref: '#/$defs/node' } } }
    expect(await shown(schema)).toEqual({ ...tree, $defs: { node: schema.$defs.node } })
    expect(await issuesOf(schema, { next: {} })).toHaveLength(1)
  })

  test.each([
    ['an anchor', { $ref: '#name' }],
    ['another document', { $ref: 'https://example.com/a.json#/$defs/a' }],
    ['all of them', { $ref: '#/$defs' }],
  ])('all stay if a reference is to %s', async (_, reference) => {
    const schema = { properties: { a: reference }, $defs: { a: { ...text, $anchor: 'name' } } }
    expect(await shown(schema)).toEqual(schema)
  })

  test('in a chain of thousands are followed to its end', async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 900 }, (_, i) => [`d${i}`, i === 899 ? text : { $ref: `#/$defs/d${i + 1}` }]),
    )
    const schema = { properties: { a: { $ref: '#/$defs/d0' } }, $defs }
    expect(await shown(schema)).toEqual(schema)
  })
})
