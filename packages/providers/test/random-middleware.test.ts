import type { AiSdkMiddleware } from '@allium/providers/middleware'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agentOf, byAllium, libraries, model, text } from './middleware-models.ts'
import { finishV3 } from './written-model.ts'

interface Part {
  type: string
  id?: string
  delta?: string
  error?: unknown
}
interface Inner {
  doStream(): Promise<{ stream: ReadableStream<Part> }>
  doGenerate(): Promise<{ content: { type: string; text: string }[] }>
}

/** What a random middleware does, one after the other. */
type Act =
  | { act: 'say'; words: string }
  | { act: 'stream'; parts: number; forgives: boolean }
  | { act: 'generate'; forgives: boolean }
  | { act: 'wait' }
/** How a random model answers one call. */
interface Answer {
  words: string[]
  end: 'finish' | 'error' | 'refusal'
}

const word = fc.string({ minLength: 1, maxLength: 3 })
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ act: fc.constant('say' as const), words: word }),
  fc.record({ act: fc.constant('stream' as const), parts: fc.integer({ min: 0, max: 9 }), forgives: fc.boolean() }),
  fc.record({ act: fc.constant('generate' as const), forgives: fc.boolean() }),
  fc.record({ act: fc.constant('wait' as const) }),
)
const answer: fc.Arbitrary<Answer> = fc.record({
  words: fc.array(word, { maxLength: 4 }),
  end: fc.constantFrom('finish', 'finish', 'finish', 'error', 'refusal'),
})
const down = new Error('down')

function modelOf(answers: readonly Answer[]) {
  const streams = answers.map(({ words, end }) => {
    // An error before the first word is told as a refusal is: doStream rejects.
    if (end === 'refusal' || (end === 'error' && words.length === 0)) return down
    return end === 'finish' ? text(...words) : [...text(...words).slice(0, -2), { type: 'error', error: down }]
  })
  const made = model(6, ...streams)
  const generate = (made as unknown as { doGenerate(options: object): Promise<unknown> }).doGenerate
  return Object.assign(made, {
    // As providers do: a stream with an error in it is a call that fails.
    async doGenerate(options: object) {
      const fails = answers[Math.min(made.calls.length, answers.length - 1)]?.end === 'error'
      const result = await generate(options)
      if (fails) throw down
      return result
    },
  })
}

function middlewareOf(acts: readonly Act[]): AiSdkMiddleware {
  async function* says(inner: Inner): AsyncGenerator<Part> {
    for (const [at, each] of acts.entries()) yield* blocks(played(each, inner), `block-${at}`)
    yield finishV3 as Part
  }
  const wrapStream = async (inner: Inner) => ({ stream: ReadableStream.from(says(inner)) })
  return { specificationVersion: 'v3', wrapStream } as unknown as AiSdkMiddleware
}

/** The words of one act. */
async function* played(each: Act, inner: Inner): AsyncGenerator<string> {
  if (each.act === 'wait') await new Promise((resolve) => setImmediate(resolve))
  if (each.act === 'say') yield each.words
  try {
    if (each.act === 'generate') yield* (await inner.doGenerate()).content.map((part) => part.text)
    if (each.act === 'stream') yield* some((await inner.doStream()).stream, each.parts)
  } catch (error) {
    if (!('forgives' in each && each.forgives)) throw error
  }
}

async function* some(stream: ReadableStream<Part>, count: number): AsyncGenerator<string> {
  let left = count
  for await (const part of stream as unknown as AsyncIterable<Part>) {
    if (left-- === 0) return
    if (part.type === 'error') throw part.error
    if (part.type === 'text-delta') yield part.delta as string
  }
}

async function* blocks(words: AsyncGenerator<string>, id: string): AsyncGenerator<Part> {
  yield { type: 'text-start', id }
  for await (const delta of words) yield { type: 'text-delta', id, delta }
  yield { type: 'text-end', id }
}

/** What the AI SDK makes of it: everything that the middleware says, or a failure. */
async function byAiSdk(made: ReturnType<typeof modelOf>, middleware: AiSdkMiddleware): Promise<string> {
  const wrapped = libraries[6].wrapLanguageModel({ model: made as never, middleware: middleware as never })
  const { stream } = await wrapped.doStream({ prompt: [] })
  let said = ''
  for await (const part of stream as unknown as AsyncIterable<Part>) if (part.type === 'text-delta') said += part.delta
  return said
}

const failed = (error: unknown) => (error === down ? 'failed' : String(error))

test('whatever a middleware asks, says and forgives, what is shown in the end is what it says', async () => {
  const acts = fc.array(act, { maxLength: 5 })
  const answers = fc.array(answer, { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(acts, answers, async (plan, given) => {
      const [theirs, ours] = [modelOf(given), modelOf(given)]
      const expected = await byAiSdk(theirs, middlewareOf(plan)).catch(failed)
      const heard = await byAllium(ours, middlewareOf(plan)).then(({ text }) => text, failed)
      expect([heard, ours.calls.length]).toEqual([expected, theirs.calls.length])
    }),
    { numRuns: 300, seed: 3 },
  )
}, 20_000)

test('wherever an abort comes, the run ends with it and nothing more is shown', async () => {
  const acts = fc.array(act, { minLength: 1, maxLength: 5 })
  const answers = fc.array(answer, { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(acts, answers, fc.integer({ min: 0, max: 40 }), async (plan, given, ticks) => {
      const run = agentOf(modelOf(given), middlewareOf(plan)).run('hello')
      const ended = run.then(
        () => 'completed',
        (error: Error) => error.name,
      )
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
      run.abort('enough')
      expect(['completed', 'AbortError', 'Error']).toContain(await ended)
      const { text } = run.partial
      await new Promise((resolve) => setImmediate(resolve))
      expect(run.partial.text).toBe(text)
    }),
    { numRuns: 200, seed: 5 },
  )
}, 20_000)
