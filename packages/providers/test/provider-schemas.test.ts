import type { ToolDef } from '@allium/core'
import { expect, it } from 'vitest'
import { finishV3, optionsFor, written } from './written-model.ts'

type Json = Record<string, unknown>

/** The schema of a tool's arguments as the provider gets it. */
async function toolFor(
  provider: string,
  jsonSchema: Json,
  strict = false,
): Promise<{ inputSchema: Json; strict: boolean }> {
  const tool: ToolDef = { name: 't', description: 'd', jsonSchema, strict }
  const { tools } = await optionsFor({ tools: [tool] }, written('v3', [finishV3], { provider }))
  return (tools as unknown as { inputSchema: Json; strict: boolean }[])[0] as never
}

/** The options of a call with an answer of this schema. */
async function formatFor(provider: string, schema: Json) {
  const options = await optionsFor(
    { responseFormat: { type: 'json', schema } },
    written('v3', [finishV3], { provider }),
  )
  return options as unknown as { responseFormat: { schema?: Json }; prompt: { role: string; content: unknown }[] }
}

function objectOf(a: Json, more: Json = {}): Json {
  return { type: 'object', properties: { a }, required: ['a'], ...more }
}
const pair = { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false }

it.each([
  ['arguments without properties', { type: 'object' }, { type: 'object', properties: {} }],
  ['a tuple of draft 07', objectOf({ type: 'array', items: pair.prefixItems, additionalItems: false }), objectOf(pair)],
  ['a tuple of joi', objectOf({ ...pair, items: undefined, unevaluatedItems: false }), objectOf(pair)],
  ['a list without items', objectOf({ type: 'array' }), objectOf({ type: 'array', items: {} })],
  ['a constant without a type', objectOf({ const: 'x' }), objectOf({ type: 'string', const: 'x' })],
  ['a reference to nothing', objectOf({ $ref: '#/$defs/x%' }), objectOf({})],
  ['a reference to a prototype', objectOf({ $ref: '#/constructor' }), objectOf({})],
  [
    'references by $id and to definitions, and a definition that nothing refers to',
    objectOf(
      { anyOf: [{ $ref: 'T' }, { $ref: '#/definitions/b' }] },
      {
        $schema: 'x',
        $defs: { t: { $id: 'T', type: 'string' }, unused: { type: 'string' } },
        definitions: { b: { type: 'number' } },
      },
    ),
    objectOf(
      { anyOf: [{ $ref: '#/$defs/t' }, { $ref: '#/$defs/b' }] },
      { $defs: { t: { type: 'string' }, b: { type: 'number' } } },
    ),
  ],
])('sends a tool in a form that every provider takes: %s', async (_, given, expected) => {
  expect((await toolFor('openai.chat', given)).inputSchema).toEqual(expected)
})

it('leaves the data of a schema as it is', async () => {
  const data = { $ref: 'x', items: [1], type: 'array' }
  const given = objectOf({ type: 'object', properties: {}, default: data, enum: [data], examples: [data] })
  expect((await toolFor('openai.chat', given)).inputSchema).toEqual(given)
})

it('drops what the strict mode of Claude rejects, and keeps other properties out', async () => {
  const int = { type: 'integer', minimum: 1, maximum: 9 }
  const { inputSchema, strict } = await toolFor('anthropic.messages', objectOf(int), true)
  expect([strict, inputSchema]).toEqual([true, objectOf({ type: 'integer' }, { additionalProperties: false })])
})

it('sends a recursive tool to Claude without strict mode', async () => {
  const tree = objectOf({ type: 'array', items: { $ref: '#' } })
  expect((await toolFor('anthropic.messages', tree, true)).strict).toBe(false)
})

it.each([['google.generative-ai'], ['anthropic.messages']])(
  'sends a tuple of an answer to %s as a list',
  async (provider) => {
    const { schema } = (await formatFor(provider, objectOf({ ...pair, minItems: 2 }))).responseFormat
    const { description, items } = (schema as { properties: { a: Json } }).properties.a
    expect([items, description]).toEqual([{ anyOf: pair.prefixItems }, expect.stringContaining('In this order: [{')])
  },
)

it('sends Gemini the keywords that it knows', async () => {
  const given = objectOf({
    oneOf: [{ type: 'string', format: 'email' }, { enum: ['x', 1] }, { allOf: [objectOf({ type: 'null' })] }],
    default: 'x',
  })
  const { inputSchema } = await toolFor('google.generative-ai', given)
  const anyOf = [{ type: 'string' }, { anyOf: [{ enum: ['x'] }, { enum: [1] }] }, objectOf({ type: 'null' }, {})]
  expect(inputSchema.properties).toEqual({
    a: { anyOf: [anyOf[0], anyOf[1], expect.objectContaining({ required: ['a'] })] },
  })
})

it('tells Gemini the schema of a recursive answer in words', async () => {
  const tree = objectOf({ type: 'array', items: { $ref: '#' } })
  const { responseFormat, prompt } = await formatFor('google.generative-ai', tree)
  expect(responseFormat).toEqual({ type: 'json' })
  expect(prompt[0]).toEqual({ role: 'system', content: expect.stringContaining('JSON Schema: {"type":"object"') })
})

it('takes a client schema whose references multiply', async () => {
  const level = (next: number) => ({
    anyOf: Array.from({ length: 25 }, (_, one) => ({ $ref: `#/$defs/d${next}_${one}` })),
  })
  const $defs = Object.fromEntries(
    Array.from({ length: 200 }, (_, at) => [`d${Math.floor(at / 25)}_${at % 25}`, level(Math.floor(at / 25) + 1)]),
  )
  expect((await toolFor('google.generative-ai', { ...level(0), $defs })).inputSchema.properties).toEqual({})
})
