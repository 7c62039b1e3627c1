import { describe, expect, it } from 'vitest'
import type { ContentChunk, Message, Part } from '../src/index.ts'
import { Assembly } from '../src/stream/assembly.ts'
import { withoutContent, withStreamedContent, withText } from '../src/stream/streamed-message.ts'

const text = (text: string): Part => ({ type: 'text', text })
const thought: Part = { type: 'reasoning', text: 'Well.' }
const call = { type: 'tool-call', callId: 'c1', name: 'work', args: {} } as Part
const result = { type: 'tool-result', callId: 'c1', name: 'work', content: 'ok' } as Part
const file = { type: 'file', data: 'aGk=', mediaType: 'text/plain' } as Part
const custom = { type: 'custom', kind: 'test.note', data: 1 } as unknown as Part
const message = (content: Message['content']): Message => ({ role: 'assistant', content })

describe('a message with another text', () => {
  it('has that text, or does not exist without one', () => {
    expect(withText(message('a'), 'b')).toEqual(message('b'))
    expect(withText(message('a'), '')).toBeUndefined()
    expect(withText(message([text('a')]), '')).toBeUndefined()
  })

  it('has it where the first text was, in place of all texts', () => {
    expect(withText(message([thought, text('a'), call, text('b')]), 'c')).toEqual(message([thought, text('c'), call]))
    expect(withText(message([text('a'), thought]), 'c')).toEqual(message([text('c'), thought]))
  })

  it('has it at the end if there was none, and keeps the rest without it', () => {
    expect(withText(message([thought, call]), 'c')).toEqual(message([thought, call, text('c')]))
    expect(withText(message([thought, text('a')]), '')).toEqual(message([thought]))
  })
})

it('a message without content keeps its calls and their results, or does not exist', () => {
  expect(withoutContent(message([thought, text('a'), call, result, file]))).toEqual(message([call, result]))
  for (const content of ['a', [thought, text('a')]]) expect(withoutContent(message(content))).toBeUndefined()
})

describe('a message with the streamed content', () => {
  function streamed(...chunks: object[]): Assembly {
    const assembly = new Assembly('test')
    for (const chunk of chunks) assembly.add(chunk as ContentChunk)
    return assembly
  }
  const delta = (delta: string, more = {}) => ({ type: 'text-delta', delta, ...more })

  it('is the same message if it has that content', () => {
    for (const [content, chunks] of [
      ['a', [delta('a')]],
      ['', []],
      [
        [file, custom, call],
        [file, custom],
      ],
    ] as [Message['content'], object[]][]) {
      const same = message(content)
      expect(withStreamedContent(same, streamed(...chunks))).toBe(same)
    }
  })

  it('has it before its other parts', () => {
    const reasoning = { type: 'reasoning-delta', delta: 'Well.' }
    expect(withStreamedContent(message([text('a'), call]), streamed(reasoning, delta('b')))).toEqual(
      message([thought, text('b'), call]),
    )
    expect(withStreamedContent(message('a'), streamed(file))).toEqual(message([file]))
    expect(withStreamedContent(message('a'), streamed(custom))).toEqual(message([custom]))
  })

  it('is a plain text if that is all, and has no metadata', () => {
    expect(withStreamedContent(message([thought]), streamed(delta('b')))).toEqual(message('b'))
    const providerMetadata = { test: { n: 1 } }
    expect(withStreamedContent(message('a'), streamed(delta('b', { providerMetadata })))).toEqual(
      message([{ type: 'text', text: 'b', providerMetadata }]),
    )
    expect(withStreamedContent(message([text('a'), call]), streamed(delta('b')))).toEqual(message([text('b'), call]))
  })

  it('does not exist if nothing is left', () => {
    expect(withStreamedContent(message('a'), streamed())).toBeUndefined()
  })
})
