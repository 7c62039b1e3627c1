import { createOpenAI } from '@ai-sdk/openai'
import { Agent, type ToolDef } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { collect, finishOf } from './calls.ts'
import { chatEvents, responsesEvents } from './wire-events.ts'
import { sse, wireServer } from './wire-server.ts'
import { finishV3, optionsFor, written } from './written-model.ts'

/** What strict mode rejects in a schema, by the rules of OpenAI. */
function problems(schema: unknown, at = '#'): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { type, properties, required = [], additionalProperties, oneOf } = schema as Record<string, unknown>
  const found = oneOf === undefined ? [] : [`${at}: oneOf`]
  if (type === 'object' && additionalProperties !== false) found.push(`${at}: open`)
  for (const name of Object.keys(properties ?? {}))
    if (!(required as string[]).includes(name)) found.push(`${at}: ${name} is optional`)
  return [...found, ...Object.entries(schema).flatMap(([key, value]) => problems(value, `${at}/${key}`))]
}

const flat = z.object({ a: z.string() })
const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
})

/** The format that reaches OpenAI for an option `output`. */
async function formatOf(output: z.ZodType, api: 'chat' | 'responses') {
  const server = await wireServer(sse((api === 'chat' ? chatEvents : responsesEvents).join('')))
  const model = fromAiSdk(createOpenAI({ apiKey: 'k', baseURL: server.url })[api]('gpt-5'))
  const agent = new Agent({ model, logger: { warn() {}, error() {} } })
  await agent.run('Hi', { output }).then(undefined, () => {})
  const body = server.requests.at(-1)?.body as Record<string, Record<string, unknown>> | undefined
  return (body?.text?.format ?? body?.response_format?.json_schema) as { strict?: boolean; schema: object }
}

describe.each(['chat', 'responses'] as const)('the schema of an answer for OpenAI (%s)', (api) => {
  it.each([
    ['an object', flat],
    ['nested objects', z.object({ a: flat, b: z.array(flat), c: flat.nullable() })],
    [
      'a variant by a field',
      z.object({ x: z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), flat.extend({ t: z.literal('b') })]) }),
    ],
    ['a list in { value }', z.array(flat)],
    ['a recursive object', tree],
    ['a list of recursive objects', z.array(tree)],
    ['bounds and formats', z.object({ n: z.int().min(1), e: z.email(), s: z.string().min(1) })],
  ])('is one that strict mode takes: %s', async (_, schema) => {
    const { strict, schema: sent } = await formatOf(schema, api)
    expect([strict, problems(sent)]).toEqual([true, []])
  })

  it.each([
    ['an optional property', z.object({ a: flat.extend({ b: z.string().optional() }) })],
    ['free keys', z.object({ a: z.record(z.string(), z.number()) })],
    ['other properties', z.looseObject({ a: z.string() })],
    ['any value', z.object({ a: z.any() })],
    ['a tuple', z.object({ a: z.tuple([z.string()]) })],
    ['another format', z.object({ a: z.url() })],
  ])('is sent without strict where strict mode cannot express it: %s', async (_, schema) => {
    const { strict, schema: sent } = await formatOf(schema, api)
    expect(strict).toBe(false)
    expect(sent).toMatchObject({ type: 'object', properties: { a: expect.anything() } })
  })
})

it('leaves the choice to a provider option of the caller', async () => {
  const responseFormat = { type: 'json', schema: { type: 'object' } } as const
  const settings = { providerOptions: { openai: { strictJsonSchema: true } } }
  const { providerOptions } = await optionsFor({ responseFormat, settings }, written('v3', [finishV3]))
  expect(providerOptions).toEqual({ openai: { strictJsonSchema: true }, acme: { strictJsonSchema: false } })
})

describe('a tool with strict: true', () => {
  const tool = (jsonSchema: object): ToolDef => ({
    name: 't',
    description: 'd',
    jsonSchema: { ...jsonSchema },
    strict: true,
  })
  const open = {
    type: 'object',
    properties: { a: { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] } },
    required: ['a'],
  }
  const optional = { type: 'object', properties: { a: { type: 'string' } } }

  it('gets a schema without other properties, in each of its objects', async () => {
    const { tools } = await optionsFor({ tools: [tool(open)] })
    expect(problems((tools as unknown as { inputSchema: object }[])[0]?.inputSchema)).toEqual([])
    expect(tools).toMatchObject([{ strict: true }])
  })

  it('is sent without it, with a warning, where the schema has an optional property', async () => {
    const model = written('v3', [finishV3])
    const chunks = await collect(fromAiSdk(model), { tools: [tool(optional)] })
    expect(model.calls[0]?.tools).toMatchObject([{ strict: false, inputSchema: optional }])
    expect(finishOf(chunks).warnings).toMatchObject([
      { type: 'unsupported', feature: 'strict', message: expect.stringContaining('"t"') },
    ])
  })

  it('may have an optional property for Anthropic', async () => {
    const model = written('v3', [finishV3], { provider: 'anthropic.messages' })
    const { tools } = await optionsFor({ tools: [tool(optional)] }, model)
    expect(tools).toMatchObject([{ strict: true, inputSchema: { ...optional, additionalProperties: false } }])
  })
})
