import { expect, it } from 'vitest'
import { Agent, type Model } from '../src/index.ts'

/** A model that says the same without an end. */
function endless(piece: object): { model: Model; isClosed(): boolean } {
  let closed = false
  const model = {
    id: 'endless',
    async *stream() {
      try {
        for (;;) yield piece
      } finally {
        closed = true
      }
    },
  }
  return { model: model as unknown as Model, isClosed: () => closed }
}

it.each([
  ['text', { type: 'text-delta', delta: 'x'.repeat(8 * 1024 * 1024) }],
  ['thoughts', { type: 'reasoning-delta', delta: 'x'.repeat(8 * 1024 * 1024) }],
  ['chunks of a kind that nobody knows', { type: 'ping', delta: 'x'.repeat(8 * 1024 * 1024) }],
])('a model whose answer has no end is left: %s', async (_, piece) => {
  const { model, isClosed } = endless(piece)
  const failed = await new Agent({ model }).run('Hi').then(
    () => undefined,
    (error) => error,
  )
  expect(failed).toMatchObject({ code: 'model.protocol', message: expect.stringContaining('"endless" sent more than') })
  expect(isClosed()).toBe(true)
})
