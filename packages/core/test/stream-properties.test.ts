import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ContentChunk, Middleware, ModelChunk } from '../src/index.ts'
import { assistantTexts, parts, results, tool, turn } from './kit.ts'

/** Layers of every temper; none but those that hold may take text back. */
const tempers: Record<string, (name: string) => Middleware> = {
  upper: (name) => mapping(name, (text) => text.toUpperCase()),
  drop: (name) => mapping(name, (text) => (text.length % 3 === 0 ? null : text)),
  double: (name) => mapping(name, (text) => [text, '-']),
  buffer: (name) => ({
    name,
    model(ctx, next) {
      ctx.pipe(buffered)
      return next()
    },
  }),
  wrap: (name) => ({
    name,
    model(ctx, next) {
      ctx.pipe(wrapped)
      return next()
    },
  }),
  append: (name) => ({
    name,
    async model(_, next) {
      const response = await next()
      response.text += '+'
      return response
    },
  }),
  hold: (name) => ({
    name,
    async model(ctx, next) {
      ctx.hold()
      const { text, ...rest } = await next()
      return { ...rest, text: `<${text}>` }
    },
  }),
  watch: (name) => ({ name, model: (_, next) => next() }),
  turnUpper: (name) => ({
    name,
    turn(ctx, next) {
      ctx.onChunk(mapped((text) => text.toUpperCase()))
      return next()
    },
  }),
  turnBuffer: (name) => ({
    name,
    turn(ctx, next) {
      ctx.pipe(buffered)
      return next()
    },
  }),
  turnAppend: (name) => ({
    name,
    async turn(ctx, next) {
      await next()
      ctx.output = `${ctx.output}!`
    },
  }),
  turnHold: (name) => ({
    name,
    async turn(ctx, next) {
      ctx.hold()
      await next()
      ctx.output = [...(ctx.output ?? '')].reverse().join('')
    },
  }),
  retry: (name) => ({ name, model: (_, next) => next().catch(() => next()) }),
}

function mapped(map: (text: string) => string | null | string[]) {
  return (chunk: ContentChunk) => {
    if (chunk.type !== 'text-delta') return
    const given = map(chunk.delta)
    if (given === null) return null
    return [given].flat().map((delta) => ({ ...chunk, delta }))
  }
}
const mapping = (name: string, map: (text: string) => string | null | string[]): Middleware => ({
  name,
  model(ctx, next) {
    ctx.onChunk(mapped(map))
    return next()
  },
})
async function* buffered(chunks: AsyncIterable<ContentChunk>) {
  const kept: ContentChunk[] = []
  for await (const chunk of chunks) {
    kept.push(chunk)
    if (kept.length === 3) yield* kept.splice(0)
  }
  yield* kept
}
async function* wrapped(chunks: AsyncIterable<ContentChunk>): AsyncIterable<ContentChunk> {
  yield { type: 'text-delta', delta: '[' }
  yield* chunks
  yield { type: 'text-delta', delta: ']' }
}

/** How many onions; the suite that replays every turn asks for fewer. */
const { numRuns = 2000 } = fc.readConfigureGlobal() ?? {}

const layersOf = fc.array(fc.constantFrom(...Object.keys(tempers)), { maxLength: 6 })
const chunksOf = fc.array(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 6 })

describe('random chains of layers', () => {
  it('keep stream, result and history in agreement', async () => {
    await fc.assert(
      fc.asyncProperty(layersOf, chunksOf, fc.boolean(), async (names, chunks, fails) => {
        const layers = names.map((name, i) => tempers[name]!(`${name}-${i}`))
        const retries = fails && names.includes('retry')
        const steps = retries ? [{ chunks: ['x', ...chunks], error: new Error('cut') }, { chunks }] : [{ chunks }]
        const { error, result, shown, session } = await turn(steps, layers)
        expect(error).toBeUndefined()
        expect(shown).toBe(result?.text)
        expect(assistantTexts(session.history).join('')).toBe(result?.text)
      }),
      { numRuns },
    )
  })

  it('show each model layer the text that left the layer inside it', async () => {
    await fc.assert(
      fc.asyncProperty(layersOf, chunksOf, async (names, chunks) => {
        const seen: [string, string][] = []
        const layers = names.flatMap((name, i): Middleware[] => [
          {
            name: `probe-${i}`,
            async model(ctx, next) {
              let streamed = ''
              ctx.onChunk((chunk) => {
                if (chunk.type === 'text-delta') streamed += chunk.delta
              })
              const response = await next()
              seen.push([streamed, response.text])
              return response
            },
          },
          tempers[name]!(`${name}-${i}`),
        ])
        await turn([{ chunks }], layers)
        for (const [streamed, response] of seen) expect(streamed).toBe(response)
      }),
      { numRuns },
    )
  })

  it('keep tool calls whole: each has one result, and the tool ran with what was streamed', async () => {
    const callChunks = (id: number): ModelChunk[] => [
      { type: 'tool-input-start', callId: `c${id}`, name: 'work' },
      { type: 'tool-input-delta', callId: `c${id}`, delta: `{"n":${id}}` },
      { type: 'tool-input-end', callId: `c${id}` },
    ]
    await fc.assert(
      fc.asyncProperty(layersOf, chunksOf, fc.nat(3), async (names, chunks, count) => {
        const calls = Array.from({ length: count }, (_, id) => callChunks(id)).flat()
        const layers = names.map((name, i) => tempers[name]!(`${name}-${i}`))
        const { session, error } = await turn([{ chunks: [...chunks, ...calls, ...chunks] }, 'done'], layers, {
          tools: [tool('work', ({ n }) => `did ${n}`)],
        })
        expect(error).toBeUndefined()
        expect(results(session.history)).toEqual(
          Object.fromEntries(Array.from({ length: count }, (_, id) => [`c${id}`, `did ${id}`])),
        )
        expect(parts(session.history).filter(({ type }) => type === 'tool-call')).toHaveLength(count)
      }),
      { numRuns },
    )
  })

  it('keep stream and history in agreement over the steps of a turn', async () => {
    await fc.assert(
      fc.asyncProperty(layersOf, chunksOf, chunksOf, async (names, first, second) => {
        const layers = names.map((name, i) => tempers[name]!(`${name}-${i}`))
        const steps = [{ chunks: first, toolCalls: [{ name: 'work' }] }, { chunks: second }]
        const { all, error, session } = await turn(steps, layers, { tools: [tool('work')] })
        expect(error).toBeUndefined()
        expect(all).toBe(assistantTexts(session.history).join(''))
      }),
      { numRuns },
    )
  })
})
