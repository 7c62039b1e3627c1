import type { Part, ToolDef } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { collect } from './calls.ts'
import { chunksOf, errorOf, finishV3, optionsFor, written } from './written-model.ts'

const start = (id: string) => ({ type: 'tool-input-start', id, toolName: 'add' })
const delta = (id: string, text: string) => ({ type: 'tool-input-delta', id, delta: text })
const end = (id: string) => ({ type: 'tool-input-end', id })
const call = (id: string, input: string, more = {}) => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'add',
  input,
  ...more,
})

describe('a tool call', () => {
  it('that only comes whole gets its start, delta and end', async () => {
    expect(await chunksOf(call('1', '{"a":1}', { providerMetadata: { acme: { s: 1 } } }))).toEqual([
      { type: 'tool-input-start', callId: '1', name: 'add', providerMetadata: { acme: { s: 1 } } },
      { type: 'tool-input-delta', callId: '1', delta: '{"a":1}' },
      { type: 'tool-input-end', callId: '1', providerMetadata: { acme: { s: 1 } } },
    ])
  })

  it('that is streamed and comes whole too is told once, and keeps its id among others', async () => {
    const parts = [
      start('1'),
      start('2'),
      delta('2', '{"b"'),
      delta('1', '{}'),
      end('1'),
      call('1', '{}'),
      delta('2', ':2}'),
      end('2'),
      call('2', '{"b":2}'),
      call('2', '{"b":2}'),
    ]
    const chunks = (await chunksOf(...parts)) as { type: string; callId: string; delta?: string }[]
    expect(chunks.map((c) => `${c.callId} ${c.delta ?? c.type.slice(11)}`)).toEqual([
      '1 start',
      '2 start',
      '2 {"b"',
      '1 {}',
      '1 end',
      '2 :2}',
      '2 end',
    ])
  })

  it('gets what the deltas left out from the whole', async () => {
    const chunks = await chunksOf(start('1'), delta('1', '{"a"'), call('1', '{"a":1}'))
    expect(chunks).toContainEqual({ type: 'tool-input-delta', callId: '1', delta: ':1}' })
  })

  it('whose deltas are raw text gets its arguments from the whole', async () => {
    const chunks = await chunksOf(
      { ...start('1'), inputEncoding: 'text' },
      delta('1', 'raw'),
      end('1'),
      call('1', '"raw"'),
    )
    expect(chunks[1]).toEqual({ type: 'tool-input-delta', callId: '1', delta: '"raw"' })
  })

  it('that its package starts twice runs once', async () => {
    const chunks = await chunksOf(start('1'), start('1'), delta('1', '{}'), end('1'), call('1', '{}'))
    expect(chunks.map(({ type }) => type)).toEqual(['tool-input-start', 'tool-input-delta', 'tool-input-end'])
  })

  it('that was cut by the length ends with what there is', async () => {
    const length = { ...finishV3, finishReason: { unified: 'length', raw: 'max_tokens' } }
    const chunks = await collect(fromAiSdk(written('v3', [start('1'), delta('1', '{"a"'), length])))
    expect(chunks.slice(1, -1)).toEqual([
      { type: 'tool-input-delta', callId: '1', delta: '{"a"' },
      { type: 'tool-input-end', callId: '1' },
    ])
  })

  it.each([
    ['other arguments than were streamed', [start('1'), delta('1', '{"a":1}'), call('1', '{"a":2}')]],
    ['the id of another call', [call('1', '{}'), call('1', '{"a":2}')]],
    ['a start with the id of another call', [start('1'), { ...start('1'), toolName: 'subtract' }]],
  ])('with %s fails', async (_, parts) => {
    expect(await errorOf(...parts)).toMatchObject({ code: 'model.protocol' })
  })

  it('of the provider is told so, and its result follows as JSON text; previews are left out', async () => {
    const result = { type: 'tool-result', toolCallId: '1', toolName: 'search', result: { hits: 2 } }
    const chunks = await chunksOf(
      call('1', '{}', { providerExecuted: true }),
      { ...result, preliminary: true },
      result,
      { ...result, result: 'no', isError: true },
    )
    expect(chunks[0]).toMatchObject({ type: 'tool-input-start', providerExecuted: true })
    expect(chunks.slice(3)).toEqual([
      { type: 'tool-result', callId: '1', name: 'search', content: '{"hits":2}', json: true },
      { type: 'tool-result', callId: '1', name: 'search', content: 'no', isError: true },
    ])
  })

  it('may have its keys in another order than its deltas, at any depth', async () => {
    const chunks = await chunksOf(
      start('1'),
      delta('1', '{"a":{"b":1,"c":[2]},"d":3}'),
      call('1', '{"d":3,"a":{"c":[2],"b":1}}'),
    )
    expect(chunks.filter(({ type }) => type === 'tool-input-delta')).toHaveLength(1)
  })

  it('of which only the whole says that the provider ran it says so at its end', async () => {
    const chunks = await chunksOf(start('1'), delta('1', '{}'), end('1'), call('1', '{}', { providerExecuted: true }))
    expect(chunks.at(-1)).toMatchObject({ type: 'tool-input-end', callId: '1', providerExecuted: true })
  })

  it.each([
    ['nothing', []],
    ['a half', [delta('1', '{"a"')]],
  ])(
    'that came by %s and never whole, in an answer that ended by itself, has arguments that no tool runs with',
    async (_, deltas) => {
      const model = written('v3', [start('1'), ...deltas, finishV3])
      const json = (await collect(fromAiSdk(model))).map((chunk) => ('delta' in chunk ? chunk.delta : '')).join('')
      expect(() => JSON.parse(json)).toThrow(SyntaxError)
    },
  )
})

describe('a text in place of arguments', () => {
  const grammar = { name: 'add', description: '', jsonSchema: {}, providerExecuted: { id: 'openai.custom', args: {} } }
  const inputOf = async (parts: object[], tools: ToolDef[]) => {
    const chunks = await collect(fromAiSdk(written('v3', [...parts, finishV3])), { tools })
    return JSON.parse(chunks.map((chunk) => ('delta' in chunk ? chunk.delta : '')).join(''))
  }

  it("is the input of the provider's own tool, streamed or whole", async () => {
    expect(await inputOf([call('1', '"SELECT 1"')], [grammar])).toEqual({ input: 'SELECT 1' })
    const streamed = [start('1'), delta('1', 'SELECT'), delta('1', ' 1'), call('1', '"SELECT 1"')]
    expect(await inputOf(streamed, [grammar])).toEqual({ input: 'SELECT 1' })
    expect(await inputOf([call('1', 'no JSON', { providerExecuted: true })], [])).toEqual({ input: 'no JSON' })
  })

  it('goes back as the text that it was', async () => {
    const part: Part = { type: 'tool-call', callId: '1', name: 'add', args: { input: 'SELECT 1' } }
    const { prompt } = await optionsFor({ messages: [{ role: 'assistant', content: [part] }], tools: [grammar] })
    expect(prompt).toMatchObject([{ content: [{ toolName: 'add', input: 'SELECT 1' }] }])
  })
})
