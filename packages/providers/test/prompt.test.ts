import type { Message, Part } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { failureOf } from './calls.ts'
import { finishV3, optionsFor, written } from './written-model.ts'

const promptFor = async (messages: Message[]) => (await optionsFor({ messages })).prompt
const result = (callId: string, more: object): Part => ({
  type: 'tool-result',
  callId,
  name: 'add',
  content: '',
  ...more,
})

describe('messages', () => {
  it('system parts become one message, or one each where one has options', async () => {
    const content: Part[] = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]
    expect(await promptFor([{ role: 'system', content }])).toEqual([{ role: 'system', content: 'ab' }])
    const cached = { anthropic: { cacheControl: { type: 'ephemeral' } } }
    expect(
      await promptFor([{ role: 'system', content: [content[0]!, { ...content[1]!, providerMetadata: cached }] }]),
    ).toEqual([
      { role: 'system', content: 'a' },
      { role: 'system', content: 'b', providerOptions: cached },
    ])
  })

  it('an answer keeps its parts in order, with what the provider added', async () => {
    const providerMetadata = { acme: { sig: 's' } }
    const content: Part[] = [
      { type: 'reasoning', text: 'hm', providerMetadata },
      { type: 'text', text: '' },
      { type: 'tool-call', callId: 's', name: 'search', args: { q: 1 }, providerExecuted: true },
      result('s', { name: 'search', content: '{"hits":2}' }),
      { type: 'tool-call', callId: '1', name: 'add', args: {}, providerMetadata },
    ]
    expect(await promptFor([{ role: 'assistant', content }])).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', providerOptions: providerMetadata },
          { type: 'tool-call', toolCallId: 's', toolName: 'search', input: { q: 1 }, providerExecuted: true },
          { type: 'tool-result', toolCallId: 's', toolName: 'search', output: { type: 'json', value: { hits: 2 } } },
          { type: 'tool-call', toolCallId: '1', toolName: 'add', input: {}, providerOptions: providerMetadata },
        ],
      },
    ])
  })

  it('tool messages that follow each other become one; errors keep their flag', async () => {
    const tool = (part: Part): Message => ({ role: 'tool', content: [part] })
    const text: Part[] = [
      { type: 'text', text: 'x' },
      { type: 'text', text: 'y' },
    ]
    const prompt = await promptFor([
      tool(result('1', { content: 'ok' })),
      tool(result('2', { content: 'no', isError: true })),
      tool(result('3', { content: text })),
    ])
    expect(prompt).toMatchObject([
      {
        role: 'tool',
        content: [
          { output: { type: 'text', value: 'ok' } },
          { output: { type: 'error-text', value: 'no' } },
          { output: { type: 'content', value: text } },
        ],
      },
    ])
  })

  it('a result carries what the provider added to its call', async () => {
    const providerMetadata = { acme: { group: 1 } }
    const call: Part = { type: 'tool-call', callId: '1', name: 'add', args: {}, providerMetadata }
    const prompt = await promptFor([
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [result('1', {})] },
    ])
    expect(prompt).toMatchObject([{}, { content: [{ toolCallId: '1', providerOptions: providerMetadata }] }])
  })

  it('an answer of nothing is left out', async () => {
    expect(await promptFor([{ role: 'assistant', content: '' }])).toEqual([])
  })

  it('a part in a role that cannot hold it fails', async () => {
    const messages: Message[] = [{ role: 'user', content: [{ type: 'reasoning', text: 'x' }] }]
    expect(await failureOf(fromAiSdk(written('v3', [])), { messages })).toMatchObject({ code: 'message.invalid' })
  })

  it.each([
    ['an object', { content: '{"a":1}', json: true }, { type: 'json', value: { a: 1 } }],
    ['a text that looks like one', { content: '{"a":1}' }, { type: 'text', value: '{"a":1}' }],
    ['what a layer has made no JSON', { content: '{"a":…', json: true }, { type: 'text', value: '{"a":…' }],
  ])('a result that is %s is told as such', async (_, more, output) => {
    expect(await promptFor([{ role: 'tool', content: [result('1', more)] }])).toMatchObject([{ content: [{ output }] }])
  })

  it.each([
    ['a text', { content: 'found' }, { type: 'text', value: 'found' }],
    ['a value', { content: '[1]', json: true }, { type: 'json', value: [1] }],
    ['an error', { content: '{"type":"x"}', json: true, isError: true }, { type: 'error-json', value: { type: 'x' } }],
    ['an error in words', { content: 'no', isError: true }, { type: 'error-json', value: 'no' }],
  ])('a result of the provider that is %s goes back as it came', async (_, more, output) => {
    const call: Part = { type: 'tool-call', callId: '1', name: 'add', args: {}, providerExecuted: true }
    expect(await promptFor([{ role: 'assistant', content: [call, result('1', more)] }])).toMatchObject([
      { content: [{ type: 'tool-call' }, { type: 'tool-result', output }] },
    ])
  })

  it('a result that was made up is not sent, nor its call to Anthropic, which refuses it alone', async () => {
    const call: Part = { type: 'tool-call', callId: '1', name: 'add', args: {}, providerExecuted: true }
    const content: Part[] = [{ type: 'text', text: 'a' }, call, result('1', { isError: true, missing: true })]
    const typesFor = async (provider: string) => {
      const { prompt }: { prompt?: unknown } = await optionsFor(
        { messages: [{ role: 'assistant', content }] },
        written('v3', [finishV3], { provider }),
      )
      return (prompt as { content: { type: string }[] }[])[0]!.content.map(({ type }) => type)
    }
    expect(await typesFor('xai.responses')).toEqual(['text', 'tool-call'])
    expect(await typesFor('anthropic.messages')).toEqual(['text'])
  })

  it.each([
    ['v3', ['text', 'file']],
    ['v4', ['custom', 'text', 'reasoning-file']],
  ])('what only the provider knows goes back to %s as far as it knows such parts', async (version, types) => {
    const content: Part[] = [
      { type: 'custom', kind: 'acme.compaction', providerMetadata: { acme: { item: 1 } } },
      { type: 'text', text: 'a' },
      { type: 'file', data: 'AQID', mediaType: 'image/png', reasoning: true },
    ]
    const { prompt }: { prompt?: unknown } = await optionsFor(
      { messages: [{ role: 'assistant', content }] },
      written(version, [finishV3]),
    )
    expect((prompt as { content: { type: string }[] }[])[0]!.content.map(({ type }) => type)).toEqual(types)
  })
})
