import type { ContentChunk } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { from } from '../src/index.ts'
import { build, oneCall } from './kit.ts'

const text = (delta: string): ContentChunk => ({ type: 'text-delta', delta })
const upper = {
  onChunk: (_: unknown, chunk: ContentChunk) =>
    chunk.type === 'text-delta' ? text(chunk.delta.toUpperCase()) : undefined,
}

describe('onChunk', () => {
  it('passes a chunk on by nothing, replaces, expands and drops it', async () => {
    const hooks = from({
      onChunk(_, chunk) {
        if (chunk.type !== 'text-delta') return
        if (chunk.delta === 'b') return text('B')
        if (chunk.delta === 'c') return [text('c'), text('c')]
        if (chunk.delta === 'd') return null
      },
    })
    const { agent } = build([{ chunks: ['a', 'b', 'c', 'd'] }], [hooks])
    const session = agent.session()
    expect((await session.run('hi')).text).toBe('aBcc')
    expect(session.history.at(-1)?.content).toBe('aBcc')
  })

  it('is piped: each object gets what the one before let through, piece by piece', async () => {
    const double = { onChunk: (_: unknown, chunk: ContentChunk) => [chunk, chunk] }
    const { agent } = build([{ chunks: ['a'] }], [from([double, upper, double])])
    expect((await agent.run('hi')).text).toBe('AAAA')
  })

  it('may be asynchronous, and keeps the order', async () => {
    const slow = { onChunk: async (_: unknown, chunk: ContentChunk) => chunk }
    const { agent } = build(['one two three'], [from([slow, upper])])
    const shown: string[] = []
    for await (const delta of agent.run('hi').textStream) shown.push(delta)
    expect(shown.join('')).toBe('ONE TWO THREE')
  })

  it('drops a tool call with its chunks', async () => {
    const { agent, model } = build(oneCall, [
      from({ onChunk: (_, chunk) => (chunk.type.startsWith('tool-') ? null : undefined) }),
    ])
    expect((await agent.run('hi')).toolCalls).toEqual([])
    expect(model.calls).toBe(1)
  })

  it('begins anew with each attempt', async () => {
    const retry = { name: 'retry', model: (_: unknown, next: () => Promise<never>) => next().catch(() => next()) }
    const { agent } = build([{ text: 'hel', error: new Error('503') }, 'hello'], [retry, from(upper)])
    expect((await agent.run('hi')).text).toBe('HELLO')
  })
})
