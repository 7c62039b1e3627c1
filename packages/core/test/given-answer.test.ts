import { expect, it } from 'vitest'
import type { ContentChunk, Middleware } from '../src/index.ts'
import { oneCall, parts, tool, turn } from './kit.ts'

/** Strips the calls of the tools, so that the answer was flushed for them and nothing follows. Then it fails. */
const strips: Middleware = {
  name: 'strips',
  async turn(ctx, next) {
    ctx.pipe(async function* (chunks): AsyncIterable<ContentChunk> {
      for await (const chunk of chunks) if (!chunk.type.startsWith('tool-input')) yield chunk
    })
    await next()
    throw new Error('lost')
  },
}
const rescues: Middleware = {
  name: 'rescues',
  async turn(ctx, next) {
    await next().catch(() => {})
    ctx.output = 'Sorry.'
  },
}
const explains: Middleware = {
  name: 'explains',
  turn(ctx, next) {
    ctx.pipe(async function* (chunks): AsyncIterable<ContentChunk> {
      yield* chunks
      yield { type: 'reasoning-delta', delta: 'Something failed.' }
    })
    return next()
  },
}

it('an answer that a layer gives after a failure has what outer layers add to it, in the stream and in the history', async () => {
  const { session, events } = await turn(oneCall, [explains, rescues, strips], { tools: [tool('work', () => 'ok')] })
  const shown = events.slice(events.findLastIndex(({ type }) => type === 'model:reset') + 1)
  const streamed = shown.flatMap((event) => (event.type === 'reasoning-delta' ? [event.delta] : []))
  const stored = parts(session.history).flatMap((part) => (part.type === 'reasoning' ? [part.text] : []))
  expect([streamed, stored]).toEqual([['Something failed.'], ['Something failed.']])
})
