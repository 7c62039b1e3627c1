import { scriptedModel } from '@allium/testing'
import { Agent } from 'allium'
import { describe, expect, test } from 'vitest'
import { ask, kinds, listen, silent } from './kit.ts'

const user = { role: 'user', content: 'Hi' }
const name = 'mine'
const description = 'A tool of the client'
const functionOf = (parameters: object) => ({ name, description, parameters })

/** How each protocol sends a tool of the client. */
const routes: [name: string, path: string, body: (schema: object) => object][] = [
  ['native', '/sessions/a/runs', (jsonSchema) => ({ input: 'Hi', clientTools: [{ name, description, jsonSchema }] })],
  [
    '/chat',
    '/chat',
    (jsonSchema) => ({
      id: 'a',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      clientTools: [{ name, description, jsonSchema }],
    }),
  ],
  [
    '/agui',
    '/agui',
    (schema) => ({ threadId: 'a', runId: 'r', messages: [user], tools: [functionOf(schema)], context: [], state: {} }),
  ],
  [
    'Chat Completions',
    '/v1/chat/completions',
    (schema) => ({ model: 'agent', messages: [user], tools: [{ type: 'function', function: functionOf(schema) }] }),
  ],
  [
    'Responses',
    '/v1/responses',
    (schema) => ({ model: 'agent', input: 'Hi', tools: [{ type: 'function', ...functionOf(schema) }] }),
  ],
]

const text = `${'a'.repeat(60)}!`
const bomb = Object.fromEntries(
  Array.from({ length: 60 }, (_, i) => [i, { allOf: [{ $ref: `#/$defs/${i + 1}` }, { $ref: `#/$defs/${i + 1}` }] }]),
)
const objects = Array.from({ length: 15_000 }, (_, id) => ({ id: Math.max(1, id) }))

/** Each would keep ajv busy for minutes, or for ever. */
const attacks: [name: string, schema: object, args: Record<string, unknown>, said: string][] = [
  ['a pattern', { properties: { a: { type: 'string', pattern: '^(a+)+$' } } }, { a: text }, 'must match pattern'],
  ['a pattern of names', { propertyNames: { pattern: '^(a+)+$' } }, { [text]: 1 }, 'must match pattern'],
  ['unique items', { properties: { a: { uniqueItems: true } } }, { a: objects }, 'duplicate items'],
  ['references', { $ref: '#/$defs/0', $defs: { ...bomb, 60: {} } }, {}, 'more than 1000000 steps'],
]

const attacked = (args: object) => {
  const model = scriptedModel([{ toolCalls: [{ name, callId: 'c1', args: args as never }] }, 'Done.'])
  const options = { openai: true, agui: true, uiStream: 6, secret: 'a secret of the test, and long' } as const
  return { model, served: listen(new Agent({ version: '1', model, logger: silent }), options) }
}

describe.each(routes)('A schema that a client sends by %s', (_, path, body) => {
  test.each(attacks)('is checked in few steps, whatever it asks for: %s', async (_name, rest, args, said) => {
    const { model, served } = attacked(args)
    const response = await ask((await served).url + path, { body: body({ type: 'object', ...rest }) })
    await response.text()
    const told = JSON.stringify(model.requests[1]?.messages.at(-1))
    expect([response.status, told]).toEqual([200, expect.stringContaining(said)])
    expect(model.requests[0]?.tools[0]?.jsonSchema).toMatchObject(rest)
  })

  test('is refused with 400 if it is too large, and the model is not called', async () => {
    const { model, served } = attacked({})
    const response = await ask((await served).url + path, {
      body: body({ type: 'object', title: 'x'.repeat(300_000) }),
    })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('schema.limits')])
    expect(model.requests).toEqual([])
  })
})

describe.each(kinds)('A schema of the answer that a client sends to runs %s', (_, listen) => {
  const evil = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
  const format = (schema: object) => ({ name: 'answer', schema, strict: true })
  const asked = [
    ['native', '/sessions/a/runs', (output: object) => ({ input: 'Hi', output })],
    [
      'Chat Completions',
      '/v1/chat/completions',
      (schema: object) => ({
        model: 'agent',
        messages: [user],
        response_format: { type: 'json_schema', json_schema: format(schema) },
      }),
    ],
    [
      'Responses',
      '/v1/responses',
      (schema: object) => ({
        model: 'agent',
        input: 'Hi',
        text: { format: { type: 'json_schema', ...format(schema) } },
      }),
    ],
  ] as const

  test.each(asked)('is held against the answer in few steps: %s', async (_, path, body) => {
    const model = scriptedModel([JSON.stringify({ a: text }), '{"a":"aa"}'])
    const { url } = await listen(new Agent({ version: '1', model, logger: silent }), { openai: true })
    const refused = await ask(url + path, { body: body(evil) })
    expect([refused.status, await refused.text()]).toEqual([502, expect.stringContaining('output.invalid')])
    expect((await ask(url + path, { body: body(evil) })).status).toBe(200)
  })

  test.each(asked)('is refused with 400 if it is too large: %s', async (_, path, body) => {
    const { url } = await listen(new Agent({ version: '1', model: scriptedModel([]), logger: silent }), {
      openai: true,
    })
    const response = await ask(url + path, { body: body({ ...evil, title: 'x'.repeat(300_000) }) })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('schema.limits')])
  })
})
