import type { LanguageModelV2, LanguageModelV3 } from '@ai-sdk/provider'
import type { Part } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { collect, failureOf } from './calls.ts'
import { finishV3, sent, written } from './written-model.ts'

const image: Part = { type: 'image', data: new Uint8Array([1, 2, 3]), mediaType: 'image/png' }
const picture: Part = { type: 'image', data: new URL('https://example.com/a.png'), mediaType: 'image/png' }

describe('a file', () => {
  const input = { role: 'user', content: [image, picture] } as const
  it.each([
    ['v2', [new Uint8Array([1, 2, 3]), new URL('https://example.com/a.png')]],
    ['v3', [new Uint8Array([1, 2, 3]), new URL('https://example.com/a.png')]],
    [
      'v4',
      [
        { type: 'data', data: new Uint8Array([1, 2, 3]) },
        { type: 'url', url: new URL('https://example.com/a.png') },
      ],
    ],
    [
      'v9',
      [
        { type: 'data', data: new Uint8Array([1, 2, 3]) },
        { type: 'url', url: new URL('https://example.com/a.png') },
      ],
    ],
  ])('is sent to %s as it wants it', async (version, data) => {
    const model = written(version, [finishV3])
    await collect(fromAiSdk(model), { messages: [{ ...input, content: [...input.content] }] })
    const content = data.map((each) => ({ type: 'file', mediaType: 'image/png', data: each }))
    expect(sent(model).prompt).toEqual([{ role: 'user', content }])
  })

  it.each([
    [
      'v2',
      [
        { type: 'media', data: 'AQID', mediaType: 'image/png' },
        { type: 'text', text: '[image/png: https://example.com/a.png]' },
      ],
    ],
    [
      'v3',
      [
        { type: 'image-data', data: 'AQID', mediaType: 'image/png' },
        { type: 'image-url', url: 'https://example.com/a.png' },
      ],
    ],
    [
      'v4',
      [
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
        { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.com/a.png') } },
      ],
    ],
  ])('in a tool result is sent to %s as it wants it', async (version, value) => {
    const model = written(version, [finishV3])
    const result: Part = { type: 'tool-result', callId: 'c', name: 'shoot', content: [image, picture] }
    await collect(fromAiSdk(model), { messages: [{ role: 'tool', content: [result] }] })
    expect(sent(model).prompt).toMatchObject([{ role: 'tool', content: [{ output: { type: 'content', value } }] }])
  })

  it.each([
    ['v3', 'AQID', 'AQID'],
    ['v4', { type: 'data', data: 'AQID' }, 'AQID'],
    ['v4', { type: 'url', url: new URL('https://example.com/a.png') }, new URL('https://example.com/a.png')],
  ])('comes from %s as its data', async (version, data, expected) => {
    const chunks = await collect(
      fromAiSdk(written(version, [{ type: 'file', mediaType: 'image/png', data }, finishV3])),
    )
    expect(chunks[0]).toMatchObject({ type: 'file', mediaType: 'image/png', data: expected })
  })
})

describe('the rest', () => {
  it.each([
    ['v2', 'provider-defined'],
    ['v3', 'provider'],
    ['v4', 'provider'],
  ])('a tool of the provider is a %s %s tool', async (version, type) => {
    const model = written(version, [finishV3])
    const search = {
      name: 'search',
      description: '',
      jsonSchema: {},
      providerExecuted: { id: 'acme.search', args: { max: 1 } },
    }
    await collect(fromAiSdk(model), { tools: [search] })
    expect(sent(model).tools).toEqual([{ type, id: 'acme.search', name: 'search', args: { max: 1 } }])
  })

  it.each([
    ['v2', { type: 'function', name: 'add', providerOptions: { p: { deferLoading: true } } }, false],
    ['v3', { type: 'function', name: 'add', providerOptions: { p: { deferLoading: true } }, strict: true }, true],
    ['v4', { type: 'function', name: 'add', providerOptions: { p: { deferLoading: true } }, strict: true }, true],
  ])('options and strictness of a tool go to %s as far as it knows them', async (version, tool, strict) => {
    const model = written(version, [finishV3])
    const options = { providerOptions: { p: { deferLoading: true } }, strict: true }
    await collect(fromAiSdk(model), {
      tools: [{ name: 'add', description: '', jsonSchema: { type: 'object', properties: {} }, ...options }],
    })
    const { tools }: { tools?: unknown } = sent(model)
    expect(tools).toMatchObject([tool])
    expect('strict' in (tools as object[])[0]!).toBe(strict)
  })

  it.each([
    ['v3', { providerOptions: { acme: { reasoningEffort: 'low', x: 1 } } }],
    ['v4', { reasoning: 'low', providerOptions: { acme: { x: 1 } } }],
  ])('the effort goes to %s in its own place', async (version, expected) => {
    const model = written(version, [finishV3])
    await collect(fromAiSdk(model), { settings: { reasoning: 'low', providerOptions: { acme: { x: 1 } } } })
    expect(sent(model)).toMatchObject(expected)
  })

  it('refuses v1 with a way out', async () => {
    expect(await failureOf(fromAiSdk(written('v1', [])))).toMatchObject({
      code: 'provider.unsupported',
      message: expect.stringContaining('Update'),
    })
  })

  it('takes the types of the packages, and names the model by the first name of its provider', () => {
    const take = (model: LanguageModelV2 | LanguageModelV3) => fromAiSdk(model).id
    expect(take(written('v3', []) as never)).toBe('acme/m-1')
    expect(fromAiSdk(written('v3', []), { id: 'mine' }).id).toBe('mine')
  })
})
