import { describe, expect, it } from 'vitest'
import type { ContentChunk, ModelResponse, Part, ToolCall } from '../src/index.ts'
import { Assembly } from '../src/stream/assembly.ts'
import {
  continuation,
  hasSameReasoning,
  nothingStreamed,
  streamedAs,
  streamedBy,
  wholeResponse,
  withReasoning,
} from '../src/stream/streamed.ts'

const metadata = { test: { cached: true } }
const work: ToolCall = { callId: 'c1', name: 'work', args: { n: 1 } }

function response({
  content = 'Hi.',
  ...more
}: Partial<ModelResponse> & { content?: string | Part[] } = {}): ModelResponse {
  const text =
    typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
  const message = { role: 'assistant' as const, content }
  return { text, toolCalls: [], usage, finishReason: 'stop', message, ...more } as ModelResponse
}

function streamed(...chunks: ContentChunk[]) {
  const assembly = new Assembly('test')
  for (const chunk of chunks) assembly.add(chunk)
  return streamedBy(assembly)
}

describe('a response as chunks', () => {
  it('is its text, or nothing if it has none', () => {
    expect(wholeResponse(response())).toEqual([{ type: 'text-delta', delta: 'Hi.' }])
    expect(wholeResponse(response({ content: '' }))).toEqual([])
  })

  it('has the parts of its message in their order, with their metadata, without images', () => {
    const content: Part[] = [
      { type: 'reasoning', text: 'Well.', providerMetadata: metadata },
      { type: 'text', text: 'Hi.' },
      { type: 'image', data: 'aGk=', mediaType: 'image/png' },
      { type: 'file', data: 'aGk=', mediaType: 'text/plain' } as Part,
    ]
    expect(wholeResponse(response({ content }))).toStrictEqual([
      { type: 'reasoning-delta', delta: 'Well.', id: '0', providerMetadata: metadata },
      { type: 'text-delta', delta: 'Hi.', id: '1' },
      { type: 'file', data: 'aGk=', mediaType: 'text/plain', id: '3' },
    ])
  })

  it('has a call as start, arguments and end', () => {
    const content: Part[] = [{ type: 'tool-call', ...work } as Part]
    expect(wholeResponse(response({ content, toolCalls: [work] }))).toStrictEqual([
      { type: 'tool-input-start', callId: 'c1', name: 'work' },
      { type: 'tool-input-delta', callId: 'c1', delta: '{"n":1}' },
      { type: 'tool-input-end', callId: 'c1' },
    ])
  })

  it('keeps that the provider ran a call, what it asks to approve, and its metadata', () => {
    const more = { providerExecuted: true, approvalRequest: { id: 'a1', provider: 'test' }, providerMetadata: metadata }
    const content = [{ type: 'tool-call', ...work, ...more } as Part]
    const [start] = wholeResponse(response({ content, toolCalls: [{ ...work, ...more } as ToolCall] }))
    expect(start).toStrictEqual({ type: 'tool-input-start', callId: 'c1', name: 'work', ...more })
  })
})

describe('the continuation of a stream to a response', () => {
  const hello = streamed({ type: 'text-delta', delta: 'Hi' })

  it('is the rest of the text and the further calls', () => {
    expect(continuation(hello, response({ toolCalls: [work] }))).toEqual([
      { type: 'text-delta', delta: '.' },
      { type: 'tool-input-start', callId: 'c1', name: 'work' },
      { type: 'tool-input-delta', callId: 'c1', delta: '{"n":1}' },
      { type: 'tool-input-end', callId: 'c1' },
    ])
  })

  it('is empty for the same text and the same calls', () => {
    expect(continuation(hello, response({ content: 'Hi' }))).toEqual([])
    const same = response({ toolCalls: [work] })
    expect(continuation(streamedAs(same), same)).toEqual([])
  })

  it('is the whole message if nothing was streamed', () => {
    const content: Part[] = [{ type: 'reasoning', text: 'Well.' }]
    expect(continuation(nothingStreamed, response({ content }))).toEqual(wholeResponse(response({ content })))
  })

  it('does not exist if the response drops text or a call', () => {
    expect(continuation(hello, response({ content: 'Ho' }))).toBeUndefined()
    expect(continuation(streamedAs(response({ toolCalls: [work] })), response())).toBeUndefined()
    const other = { ...work, args: { n: 2 } }
    expect(continuation(streamedAs(response({ toolCalls: [work] })), response({ toolCalls: [other] }))).toBeUndefined()
  })
})

describe('reasoning that a layer returned', () => {
  const text: Part = { type: 'text', text: 'Hi.' }
  const thought = (text: string): Part => ({ type: 'reasoning', text })
  const contentOf = (given: ModelResponse, seen?: string) =>
    withReasoning(given, seen === undefined ? undefined : streamed({ type: 'reasoning-delta', delta: seen })).message
      .content

  it('is placed before the text of the message', () => {
    expect(contentOf(response({ reasoning: 'Well.' }))).toEqual([thought('Well.'), text])
    expect(contentOf(response({ content: [thought('Hm.'), text], reasoning: 'Well.' }), 'Hm.')).toEqual([
      thought('Well.'),
      text,
    ])
  })

  it('is removed from the message if it is empty, with empty texts', () => {
    const content = [thought('Hm.'), text, { type: 'text', text: '' } as Part]
    expect(contentOf(response({ content, reasoning: '' }), 'Hm.')).toEqual([text])
  })

  it.each([
    ['is not given', undefined, undefined],
    ['equals the streamed one', 'Hm.', 'Hm.'],
    ['is in the message already', 'Well.', undefined],
  ])('leaves the message as it is if it %s', (_, reasoning, seen) => {
    const given = response({ content: [thought('Well.'), text], ...(reasoning !== undefined && { reasoning }) })
    expect(contentOf(given, seen)).toBe(given.message.content)
  })

  it('is the same as the streamed one if both the field and the message are', () => {
    const seen = streamed({ type: 'reasoning-delta', delta: 'Well.' })
    expect(hasSameReasoning(seen, response({ content: [thought('Well.'), text] }))).toBe(true)
    expect(hasSameReasoning(seen, response({ content: [thought('Well.'), text], reasoning: 'Hm.' }))).toBe(false)
    expect(hasSameReasoning(seen, response())).toBe(false)
    expect(hasSameReasoning(nothingStreamed, response())).toBe(true)
    expect(hasSameReasoning(nothingStreamed, response({ content: [thought('Well.'), text] }))).toBe(false)
  })
})

describe('what was streamed', () => {
  it('has text, reasoning and the calls with their arguments', () => {
    const seen = streamed(
      { type: 'reasoning-delta', delta: 'Well.' },
      { type: 'text-delta', delta: 'Hi.' },
      { type: 'tool-input-start', callId: 'c1', name: 'work' },
      { type: 'tool-input-delta', callId: 'c1', delta: '{"n":1}' },
      { type: 'tool-input-end', callId: 'c1' },
    )
    expect([seen.text, seen.reasoning, seen.calls()]).toEqual(['Hi.', 'Well.', [work]])
    expect(seen.calls()).toBe(seen.calls())
    expect(streamed({ type: 'text-delta', delta: 'Hi.' }).calls()).toEqual([])
  })
})
