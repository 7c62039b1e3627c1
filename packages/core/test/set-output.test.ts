import { describe, expect, it } from 'vitest'
import type { ContentChunk, Middleware } from '../src/index.ts'
import { assistantTexts, oneCall, only, rest, tool, turn } from './kit.ts'

/** A layer that writes the answer after its next(). */
const writes = (name: string, output: unknown, scope: 'turn' | 'model' = 'turn'): Middleware => ({
  name,
  async [scope](ctx: { output: unknown }, next: () => Promise<unknown>) {
    const result = await next()
    ctx.output = output
    return result
  },
})

describe('ctx.output', () => {
  it.each([
    [5, '5'],
    [undefined, 'undefined'],
    [{}, 'an object'],
  ])('takes only a text: %j is an error', async (value, what) => {
    const { error } = await turn(['hi'], [writes('mine', value)])
    expect(error?.code).toBe('layer.result')
    expect(error?.message).toBe(`Layer "mine" (turn) set ctx.output to ${what}. Set a string.`)
  })

  it('in a model hook has no effect, and each layer that sets it is warned once', async () => {
    const layers = [writes('a', 'x', 'model'), writes('b', 'y', 'model')]
    const { log, result } = await turn(oneCall, layers, { tools: [tool('work')] })
    expect(result?.text).toBe('done')
    const warnings = log.map(({ message }) => message).filter((message) => message.includes('ctx.output'))
    expect(warnings.map((message) => message.slice(0, 9))).toEqual(['Layer "b"', 'Layer "a"'])
  })

  it('that is the same as the answer changes nothing', async () => {
    const { events, result } = await turn(['same'], [writes('mine', 'same')])
    expect([result?.text, only(events, 'model:reset'), only(events, 'text-delta').length]).toEqual(['same', [], 1])
  })

  it('that continues the answer is added to it', async () => {
    const { events, result, shown, session } = await turn(['Hello'], [writes('mine', 'Hello Ann')])
    expect([result?.text, shown, assistantTexts(session.history).at(-1)]).toEqual(Array(3).fill('Hello Ann'))
    expect(only(events, 'text-delta').map(({ delta }) => delta)).toEqual(['Hello', ' Ann'])
  })

  it('that is another text while a reader has the answer is an error', async () => {
    const { error } = await turn(['Hello'], [writes('mine', 'Goodbye')])
    expect(error).toMatchObject({ code: 'stream.mismatch', details: { layer: 'mine' } })
  })

  it('is another text where the layer holds the answer', async () => {
    const holds: Middleware = {
      name: 'holds',
      async turn(ctx, next) {
        ctx.hold()
        await next()
        ctx.output = 'Goodbye'
      },
    }
    const { shown, result, session } = await turn(['Hello'], [holds])
    expect([result?.text, shown, assistantTexts(session.history).at(-1)]).toEqual(Array(3).fill('Goodbye'))
  })

  it('is nothing for the reader where it is empty and there was no answer', async () => {
    const silent: Middleware = {
      name: 'silent',
      async turn(ctx) {
        ctx.output = ''
      },
    }
    const { events, result, session } = await turn([], [silent])
    expect([result?.text, only(events, 'text-delta'), session.history.map(({ role }) => role)]).toEqual([
      '',
      [],
      ['user'],
    ])
  })
})

describe('a pipe of a turn layer', () => {
  const pipe = (
    name: string,
    fn: Parameters<Parameters<NonNullable<Middleware['turn']>>[0]['pipe']>[0],
  ): Middleware => ({
    name,
    turn(ctx, next) {
      ctx.pipe(fn)
      return next()
    },
  })

  it('is told the last response when the answer ends, and may add to it', async () => {
    const seen: unknown[] = []
    const adds = pipe('adds', async function* (chunks, end) {
      yield* chunks
      const { response } = await end()
      seen.push([response?.text, response?.reasoning])
      yield { type: 'text-delta', delta: '!' } satisfies ContentChunk
    })
    const { result, shown, session } = await turn([{ reasoning: 'Well.', text: 'Hi' }], [adds])
    expect(seen).toEqual([['Hi', 'Well.']])
    expect([result?.text, shown]).toEqual(['Hi!', 'Hi!'])
    expect(session.history.at(-1)?.content).toEqual([
      { type: 'reasoning', text: 'Well.' },
      { type: 'text', text: 'Hi!' },
    ])
  })

  it('that drops the reasoning drops it from the history, too', async () => {
    const drops = pipe('drops', async function* (chunks) {
      for await (const chunk of chunks) if (chunk.type !== 'reasoning-delta') yield chunk
    })
    const { events, session } = await turn([{ reasoning: 'Well.', text: 'Hi' }], [drops])
    expect([only(events, 'reasoning-delta'), session.history.at(-1)?.content]).toEqual([[], 'Hi'])
  })

  it('ends with an error where no model was asked', async () => {
    const ends: unknown[] = []
    const asks = pipe('asks', async function* (chunks, end) {
      yield* chunks
      ends.push((await end()).error)
    })
    const answers: Middleware = {
      name: 'answers',
      async turn(ctx) {
        ctx.output = 'mine'
      },
    }
    const { result } = await turn([], [asks, answers])
    await rest()
    expect([result?.text, ends.length]).toEqual(['mine', 1])
  })
})

describe('an answer that is blocked', () => {
  const blocks = (reply?: string): Middleware => ({
    name: 'blocks',
    async turn(ctx, next) {
      await next()
      ctx.block('no', reply === undefined ? {} : { reply })
    },
  })
  const secret = [{ reasoning: 'secret', text: 'hidden' }]

  it('leaves neither its text nor its thoughts in the history', async () => {
    const { session } = await turn(secret, [blocks()])
    expect(session.history.map(({ role }) => role)).toEqual(['user'])
  })

  it('is replaced by the reply', async () => {
    const { session, shown } = await turn(secret, [blocks('Sorry.')])
    expect([shown, session.history.map(({ content }) => content)]).toEqual(['Sorry.', ['hi', 'Sorry.']])
  })

  it('keeps the tool calls that were before it', async () => {
    const { session } = await turn([...oneCall.slice(0, 1), ...secret], [blocks('Sorry.')], { tools: [tool('work')] })
    expect(session.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(session.history.at(-1)?.content).toBe('Sorry.')
  })
})
