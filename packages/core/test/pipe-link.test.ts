import { describe, expect, it } from 'vitest'
import type { ContentChunk, ModelResponse } from '../src/index.ts'
import { PipeLink } from '../src/stream/pipe-link.ts'
import type { Pipe } from '../src/stream/transforms.ts'
import { failure, gate, rest } from './kit.ts'

const text = (delta: string): ContentChunk => ({ type: 'text-delta', delta })
const response = { text: '' } as ModelResponse

function link(pipe: Pipe, push: (chunk: ContentChunk) => void | Promise<void> = () => {}) {
  const out: ContentChunk[] = []
  const made = new PipeLink('mine', pipe, {
    push(chunk) {
      out.push(chunk)
      return push(chunk)
    },
  })
  return { out, made }
}

describe('a pipe', () => {
  it('that fails fails each later chunk, and the end, with its error', async () => {
    const { made } = link(async function* () {
      yield* []
      throw new Error('broken')
    })
    await rest()
    expect((await failure(() => made.push(text('a')))).message).toBe('broken')
    expect((await failure(made.end({ response }))).message).toBe('broken')
  })

  it('that fails while the sender waits for room fails the sender', async () => {
    const { made } = link(async function* (chunks) {
      for await (const chunk of chunks) {
        yield chunk
        await rest()
        throw new Error('broken')
      }
    })
    await rest()
    made.push(text('a'))
    expect((await failure(made.push(text('b')) as Promise<void>)).message).toBe('broken')
  })

  it('that returns early takes the rest and drops it', async () => {
    const { out, made } = link(async function* (chunks) {
      for await (const chunk of chunks) {
        yield chunk
        return
      }
    })
    await rest()
    for (const delta of ['a', 'b', 'c']) await made.push(text(delta))
    await made.end({ response })
    expect(out).toEqual([text('a')])
  })

  it('holds its sender back while it works, and is held back by its reader', async () => {
    const read = gate()
    const { out, made } = link(
      async function* (chunks) {
        yield* chunks
      },
      () => read.promise,
    )
    await rest()
    made.push(text('a'))
    await rest()
    let sent = false
    const second = Promise.resolve(made.push(text('b'))).then(() => (sent = true))
    await rest()
    expect([out, sent]).toEqual([[text('a')], false])
    read.open()
    await second
    await made.end({ response })
    expect(out).toEqual([text('a'), text('b')])
  })

  it('does not hold its sender back while it waits for the end', async () => {
    const { out, made } = link(async function* (chunks, end) {
      const { response } = await end()
      yield text(String(response?.text.length))
      yield* chunks
    })
    await rest()
    expect([made.push(text('a')), made.push(text('b'))]).toEqual([undefined, undefined])
    await made.end({ response })
    expect(out).toEqual([text('0'), text('a'), text('b')])
  })

  it('is told the same end however often it asks, and only the first one', async () => {
    const ends: unknown[] = []
    const { made } = link(async function* (chunks, end) {
      ends.push(...(await Promise.all([end(), end()])))
      for await (const chunk of chunks) yield chunk
      ends.push(await end())
    })
    await rest()
    await made.end({ error: 'first' })
    made.kill('second')
    expect(ends).toEqual(Array(3).fill({ error: 'first' }))
  })

  it('that is killed sends nothing more', async () => {
    const held = gate()
    const { out, made } = link(async function* (chunks) {
      for await (const chunk of chunks) {
        await held.promise
        yield chunk
      }
    })
    await rest()
    made.push(text('a'))
    made.kill('gone')
    held.open()
    await rest()
    expect([out, made.push(text('b'))]).toEqual([[], undefined])
  })
})
