import { expect, it } from 'vitest'
import { z } from 'zod'
import { Agent } from '../../core/src/index.ts'
import { scriptedModel } from '../../testing/src/index.ts'
import { optionsFor } from './written-model.ts'

const create = z.object({ action: z.literal('create'), title: z.string(), at: z.string() })
const update = z.object({ action: z.literal('update'), id: z.string(), at: z.string().optional() })
const leaf = z.object({ name: z.string() }).meta({ id: 'Leaf' })
const list = z.union([
  z.null(),
  z.object({
    head: z.string(),
    get tail() {
      return list
    },
  }),
])

/** The schema that a provider gets for a tool. */
async function sent(schema: z.ZodType): Promise<Record<string, unknown>> {
  const model = scriptedModel(['ok'])
  await new Agent({ model, tools: [{ name: 't', description: 'd', schema, execute: () => '' }] }).run('Hi')
  const { tools } = await optionsFor({ tools: [...(model.requests[0]?.tools ?? [])] })
  return (tools as unknown as { inputSchema: Record<string, unknown> }[])[0]?.inputSchema ?? {}
}

it.each([
  [
    'variants by a field',
    z.discriminatedUnion('action', [create, update]),
    ['action', 'title', 'at', 'id'],
    ['action'],
  ],
  ['a union', z.union([create, update]), ['action', 'title', 'at', 'id'], ['action']],
  [
    'an intersection with a union',
    z.intersection(leaf, z.union([create, update])),
    ['name', 'action', 'title', 'at', 'id'],
    ['name', 'action'],
  ],
  ['a reference', leaf, ['name'], ['name']],
  ['a recursive union with null', list, ['head', 'tail'], ['head', 'tail']],
  ['any value', z.any(), [], undefined],
])('sends the arguments of a tool as one object: %s', async (_, schema, properties, required) => {
  const root = await sent(schema)
  expect([root.type, Object.keys(root.properties ?? {}), root.required]).toEqual(['object', properties, required])
  expect(Object.keys(root)).not.toEqual(expect.arrayContaining([expect.stringMatching(/anyOf|oneOf|allOf|\$ref/)]))
})

it('lets a property have the form of each variant', async () => {
  const { properties } = await sent(z.discriminatedUnion('action', [create, update]))
  expect((properties as Record<string, unknown>).action).toMatchObject({
    anyOf: [{ const: 'create' }, { const: 'update' }],
  })
})
