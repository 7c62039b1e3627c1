import { describe, expect, it } from 'vitest'
import type { ContentChunk } from '../src/index.ts'
import { Assembly } from '../src/stream/assembly.ts'
import { failure } from './kit.ts'

const metadata = { test: { cached: true } }
const start = (callId = 'c1'): ContentChunk => ({ type: 'tool-input-start', callId, name: 'work' })
const args = (delta: string, callId = 'c1'): ContentChunk => ({ type: 'tool-input-delta', callId, delta })
const end = (callId = 'c1'): ContentChunk => ({ type: 'tool-input-end', callId })
const text = (delta: string, more: object = {}): ContentChunk => ({ type: 'text-delta', delta, ...more })
const thought = (delta: string, more: object = {}): ContentChunk => ({ type: 'reasoning-delta', delta, ...more })

function assemble(...chunks: ContentChunk[]): Assembly {
  const assembly = new Assembly('The model')
  for (const chunk of chunks) assembly.add(chunk)
  return assembly
}
const contentOf = (assembly: Assembly) => assembly.content().message.content

describe('the message of an answer', () => {
  it('is one text, however many chunks it has', () => {
    const assembly = assemble(text('a'), text('b'), text('c'))
    expect([assembly.content().message, assembly.text]).toEqual([{ role: 'assistant', content: 'abc' }, 'abc'])
  })

  it('is an empty text without chunks', () => {
    expect(assemble().content().message).toEqual({ role: 'assistant', content: '' })
    expect(assemble({ type: 'source', url: 'https://acme.example' } as ContentChunk).content().message).toEqual({
      role: 'assistant',
      content: '',
    })
  })

  it('is a list of parts if there is anything but text, or metadata', () => {
    expect(contentOf(assemble(thought('Well.')))).toEqual([{ type: 'reasoning', text: 'Well.' }])
    expect(contentOf(assemble(text('Hi', { providerMetadata: metadata })))).toEqual([
      { type: 'text', text: 'Hi', providerMetadata: metadata },
    ])
  })

  it('has texts with different ids apart, and later deltas of the same id together', () => {
    const chunks = [text('a', { id: '1' }), thought('t', { id: '9' }), text('b', { id: '1' }), text('c', { id: '2' })]
    expect(contentOf(assemble(...chunks))).toEqual([
      { type: 'text', text: 'ab' },
      { type: 'reasoning', text: 't' },
      { type: 'text', text: 'c' },
    ])
  })

  it('starts a new text without an id after another part', () => {
    expect(contentOf(assemble(text('a'), thought('t'), text('b'), text('c')))).toEqual([
      { type: 'text', text: 'a' },
      { type: 'reasoning', text: 't' },
      { type: 'text', text: 'bc' },
    ])
  })

  it('adds the metadata of an empty delta to the part with its id', () => {
    const chunks = [text('a', { id: '1' }), text('b', { id: '2' }), text('', { id: '1', providerMetadata: metadata })]
    expect(contentOf(assemble(...chunks))).toEqual([
      { type: 'text', text: 'a', providerMetadata: metadata },
      { type: 'text', text: 'b' },
    ])
  })

  it('keeps files, results and custom parts in their order, without the ids of the chunks', () => {
    const file = { type: 'file', data: 'aGk=', mediaType: 'text/plain' }
    const custom = { type: 'custom', kind: 'test.note', data: 1 }
    const result = { type: 'tool-result', callId: 'c1', name: 'work', content: 'ok' }
    const chunks = [file, custom, result].map((part, id) => ({ ...part, id: String(id) }) as unknown as ContentChunk)
    const content = contentOf(assemble(...chunks)) as object[]
    expect(content).toMatchObject([file, custom, { type: 'tool-result', callId: 'c1' }])
    for (const part of content) expect(part).not.toHaveProperty('id')
  })

  it('keeps nothing of a provider result that only core may say', () => {
    const own = { approval: {}, approved: true, approvalSeal: 's', flow: {}, missing: true }
    const result = { type: 'tool-result', callId: 'c1', name: 'work', content: 'ok' }
    const chunk = { ...result, ...own, id: '1' } as unknown as ContentChunk
    expect(contentOf(assemble(chunk))).toStrictEqual([result])
  })

  it('keeps what a provider says about a call, at its start and at its end', () => {
    const approvalRequest = { id: 'a1', provider: 'test' }
    const begun = { ...start(), approvalRequest, providerMetadata: metadata } as ContentChunk
    const ended = { ...end(), providerExecuted: true, providerMetadata: { other: { n: 1 } } } as ContentChunk
    expect(contentOf(assemble(begun, args('{"n":1}'), ended))).toEqual([
      {
        type: 'tool-call',
        callId: 'c1',
        name: 'work',
        args: { n: 1 },
        providerExecuted: true,
        approvalRequest,
        providerMetadata: { ...metadata, other: { n: 1 } },
      },
    ])
  })

  it('says nothing more about a call than its provider did', () => {
    const assembly = assemble(start(), args('{}'), end())
    expect(contentOf(assembly)).toStrictEqual([{ type: 'tool-call', callId: 'c1', name: 'work', args: {} }])
    expect(assembly.toolCalls()).toStrictEqual([{ callId: 'c1', name: 'work', args: {} }])
  })
})

describe('an answer so far', () => {
  it('has a size: characters of texts, thoughts and arguments, and files', () => {
    const file = { type: 'file', data: 'aGk=', mediaType: 'text/plain' } as ContentChunk
    const custom = { type: 'custom', kind: 'test.note', data: 1 } as unknown as ContentChunk
    expect(assemble(text('ab'), thought('cde'), start(), args('{"n"'), file, custom).size).toEqual({
      chars: 9,
      files: 1,
    })
  })

  it('has its reasoning, and knows its calls', () => {
    const assembly = assemble(thought('a'), thought('b'), start())
    expect([assembly.reasoning, assembly.hasCalls, assembly.has('c1'), assembly.has('c2')]).toEqual([
      'ab',
      true,
      true,
      false,
    ])
    expect([assemble(text('a')).reasoning, assemble(text('a')).hasCalls]).toEqual([undefined, false])
  })
})

describe('chunks of tool inputs out of order', () => {
  const rule = 'Each tool input is one start, its deltas, one end.'
  it.each([
    ['sent a second tool-input-start for "c1"', [start(), start()]],
    ['sent a tool-input-delta for "c1" before its tool-input-start', [args('{}')]],
    ['sent a tool-input-end for "c1" before its tool-input-start', [end()]],
    ['sent a tool-input-delta for "c1" after its tool-input-end', [start(), end(), args('{}')]],
    ['sent a tool-input-end for "c1" after its tool-input-end', [start(), end(), end()]],
  ])('are an error: the model %s', async (what, chunks) => {
    const error = await failure(() => assemble(...chunks))
    expect([error.code, error.message]).toEqual(['stream.tool_order', `The model ${what}. ${rule}`])
  })

  it('are an error if an input has not ended', async () => {
    const open = assemble(start('c0'), end('c0'), start())
    const { message } = await failure(() => open.close())
    expect(message).toBe(`The model left the tool input "c1" without its tool-input-end. ${rule}`)
    expect(() => assemble(start(), end()).close()).not.toThrow()
  })

  it('may belong to several inputs at once', () => {
    const mixed = assemble(start('a'), start('b'), args('{"n":1}', 'a'), args('{"n":2}', 'b'), end('a'), end('b'))
    expect(mixed.toolCalls().map(({ args }) => args)).toEqual([{ n: 1 }, { n: 2 }])
  })
})
