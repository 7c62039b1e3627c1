import { defineMiddleware, type Message, type ModelEnd } from '@allium/core'
import { type AiSdkMiddleware, fromAiSdkMiddleware } from '@allium/providers/middleware'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agentOf, byAllium, byStreamText, model, text } from './middleware-models.ts'
import { finishV3, sent } from './written-model.ts'

type Part = { type: string; delta?: string; [key: string]: unknown }
interface Call {
  doStream(): Promise<{ stream: ReadableStream<Part> }>
  doGenerate(): Promise<{ content: Part[]; [key: string]: unknown }>
  params: { prompt: { role: string; content: unknown }[]; abortSignal: AbortSignal; [key: string]: unknown }
}

/** A middleware by its functions, as an application writes them. */
function middleware(hooks: {
  transformParams?(call: Call & { type: string }): object | Promise<object>
  wrapStream?(call: Call): Promise<{ stream: ReadableStream<Part> }>
  wrapGenerate?(call: Call): Promise<object>
  overrideProvider?(): string
  overrideModelId?(): string
}): AiSdkMiddleware {
  return { specificationVersion: 'v3', ...hooks } as unknown as AiSdkMiddleware
}
const mapped = (map: (part: Part, controller: TransformStreamDefaultController<Part>) => void) =>
  middleware({
    wrapStream: async ({ doStream }) => ({
      stream: (await doStream()).stream.pipeThrough(new TransformStream({ transform: map })),
    }),
  })
const shout = mapped((part, out) =>
  out.enqueue(part.delta === undefined ? part : { ...part, delta: part.delta.toUpperCase() }),
)
const streamOf = (...parts: object[]) => ({ stream: ReadableStream.from(parts as Part[]) as ReadableStream<Part> })
const run = (made: ReturnType<typeof model>, ...layers: AiSdkMiddleware[]) => agentOf(made, ...layers).run('hello')

describe('a stream', () => {
  test('passes through while it comes', async () => {
    let go = () => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const made = model(6, [])
    async function* parts() {
      yield* text('a').slice(0, 3)
      await gate
      yield* text('b').slice(2)
    }
    Object.assign(made, { doStream: async () => ({ stream: ReadableStream.from(parts()) }) })
    const seen: string[] = []
    for await (const event of agentOf(made, shout).run('hello')) {
      if (event.type !== 'text-delta') continue
      seen.push(event.delta)
      go()
    }
    expect(seen.join('')).toBe('AB')
  })

  test('that ends without its finish is a cut answer', async () => {
    const cut = mapped((part, out) => (part.type === 'finish' ? undefined : out.enqueue(part)))
    await expect(run(model(6, text('Hi')), cut)).rejects.toMatchObject({ code: 'model.truncated' })
  })

  test.each([
    ['a delta of no block', { type: 'text-delta', id: 'x', delta: '!' }, 'layer.result'],
    ['input of no call', { type: 'tool-input-delta', id: 'x', delta: '!' }, 'stream.tool_order'],
    ['no part', 'text', 'layer.result'],
  ])('with %s is an error that names the layer', async (_, part, code) => {
    const breaks = mapped((each, out) => {
      if (each.type === 'finish') out.enqueue(part as Part)
      out.enqueue(each)
    })
    const failed = await run(model(6, text('Hi')), breaks).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code, message: expect.stringContaining('"ai-sdk-0"') })
  })

  test('keeps the error of the model, the same object', async () => {
    const down = Object.assign(new Error('down'), { statusCode: 503 })
    await expect(run(model(6, down), shout)).rejects.toBe(down)
    await expect(run(model(6, [...text('Hi').slice(0, 3), { type: 'error', error: down }]), shout)).rejects.toBe(down)
  })

  test('fails with what a middleware throws', async () => {
    const wrong = new Error('wrong')
    const before = middleware({ wrapStream: () => Promise.reject(wrong) })
    const amid = mapped((part, out) => (part.type === 'text-end' ? out.error(wrong) : out.enqueue(part)))
    for (const each of [before, amid]) await expect(run(model(6, text('Hi')), each)).rejects.toBe(wrong)
  })

  test('begins anew with a retry inside', async () => {
    const cut = [...text('one').slice(0, 3), { type: 'error', error: new Error('down') }]
    let runs = 0
    const counts = middleware({
      wrapStream: ({ doStream }) => {
        runs++
        return doStream()
      },
    })
    const again = defineMiddleware({ name: 'again', model: (_, next) => next().catch(() => next()) })
    expect((await byAllium(model(6, cut, text('two')), shout, counts, again)).text).toBe('TWO')
    expect(runs).toBe(2)
  })

  test('is left by an abort', async () => {
    const made = model(6, text('Hi'))
    const hangs = middleware({
      wrapStream: async ({ doStream }) => {
        await doStream()
        return { stream: new ReadableStream<Part>({}) }
      },
    })
    const aborted = run(made, hangs)
    setImmediate(() => aborted.abort('enough'))
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('a call', () => {
  test('is answered in the place of the model by a middleware that asks for nothing', async () => {
    const made = model(6, text('Hi'))
    const skips = middleware({ wrapStream: async () => streamOf(...text('Cached.')) })
    const result = await run(made, skips)
    expect([result.text, made.calls, result.usage.calls]).toEqual(['Cached.', [], 0])
  })

  test('goes through wrapGenerate alone as a whole answer, and nothing leaves before', async () => {
    const seen: unknown[] = []
    const guards = middleware({
      wrapGenerate: async ({ doGenerate }) => {
        const { content, ...rest } = await doGenerate()
        seen.push(content)
        return {
          ...rest,
          content: content.map((part) => ({ ...part, text: String(part.text).replace('secret', '***') })),
        }
      },
    })
    const heard = await byAllium(model(6, text('my sec', 'ret')), guards)
    expect([heard.text, seen]).toEqual(['my ***', [[{ type: 'text', text: 'my secret' }]]])
  })

  test('is made again by one that asks twice, and the first answer counts no more', async () => {
    const votes = middleware({
      wrapGenerate: async ({ doGenerate }) => {
        await doGenerate()
        return doGenerate()
      },
    })
    const made = model(6, text('one'), text('two'))
    const result = await run(made, votes)
    expect([result.text, result.usage.calls, made.calls.length]).toEqual(['two', 2, 2])
  })

  test('is made again by one that hears it fail, before or amid its stream', async () => {
    const retries = middleware({
      wrapStream: async ({ doStream }) => doStream().catch(() => doStream()),
    })
    const made = model(6, new Error('down'), text('two'))
    expect((await byAllium(made, retries)).text).toBe('two')
    const joins = middleware({
      wrapStream: async ({ doStream }) => {
        const first = (await doStream()).stream
        return streamBy(async function* () {
          for await (const part of first as unknown as AsyncIterable<Part>) {
            if (part.type !== 'error') yield part
            else
              for await (const more of (await doStream()).stream as unknown as AsyncIterable<Part>) yield rename(more)
          }
        })
      },
    })
    const parts = [...text('one ').slice(0, 3), { type: 'error', error: new Error('down') }]
    expect((await byAllium(model(6, parts, text('two')), joins)).text).toBe('one two')
  })

  test('is made twice, one after the other, by one that asks twice at once', async () => {
    const made = model(6, text('one'), text('two'))
    const votes = middleware({
      wrapGenerate: async ({ doGenerate }) => {
        const [first, second] = await Promise.all([doGenerate(), doGenerate()])
        return { ...second, content: [...first.content, ...second.content] }
      },
    })
    expect([(await byAllium(made, votes)).text, made.calls.length]).toEqual(['onetwo', 2])
  })

  test('is not made again once something was shown, in a run that refuses that', async () => {
    const again = middleware({
      wrapStream: async ({ doStream }) =>
        streamBy(async function* () {
          for await (const part of (await doStream()).stream as unknown as AsyncIterable<Part>)
            if (part.type !== 'finish') yield part
          for await (const part of (await doStream()).stream as unknown as AsyncIterable<Part>) yield rename(part)
        }),
    })
    const agent = () => agentOf(model(6, text('one'), text('two')), again)
    const refused = agent().run('hello', { onRetryAfterOutput: 'fail' })
    await expect(refused).rejects.toMatchObject({ code: 'stream.reset' })
    await expect(agent().run('hello')).resolves.toMatchObject({ text: 'onetwo' })
  })

  test('takes an answer of its own where the model failed', async () => {
    const falls = middleware({ wrapStream: ({ doStream }) => doStream().catch(() => streamOf(...text('Later.'))) })
    expect((await byAllium(model(6, new Error('down')), falls)).text).toBe('Later.')
  })

  test('sends what transformParams makes of it, and what it leaves stays as it was', async () => {
    const made = model(6, text('Hi'))
    const adds = middleware({
      transformParams: ({ params }) => ({
        ...params,
        temperature: 0.1,
        prompt: [{ role: 'system', content: 'Be short.' }, ...params.prompt],
      }),
    })
    let inside: readonly Message[] = []
    const looks = defineMiddleware({
      name: 'looks',
      model(ctx, next) {
        inside = ctx.request.messages
        return next()
      },
    })
    const input = { role: 'user', content: 'hello', id: 'm-1' } as const
    await agentOf(made, adds, looks).run(input)
    expect(inside).toEqual([{ role: 'system', content: 'Be short.' }, input])
    expect(sent(made)).toMatchObject({ temperature: 0.1, prompt: [{ role: 'system' }, { role: 'user' }] })
  })

  test('leaves every part of a history what it was, where it changes another', async () => {
    const history: Message[] = [
      { role: 'user', content: [{ type: 'image', data: new Uint8Array([1]), mediaType: 'image/png' }], id: 'm-1' },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerMetadata: { acme: { signature: 's' } } },
          { type: 'tool-call', callId: 'a', name: 'add', args: { a: 1 } },
          { type: 'tool-call', callId: 'b', name: 'add', args: { a: 2 } },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', callId: 'a', name: 'add', content: '{"sum":1}', json: true }] },
      { role: 'tool', content: [{ type: 'tool-result', callId: 'b', name: 'add', content: 'no', isError: true }] },
    ]
    const edits = middleware({
      transformParams: ({ params }) => ({
        ...params,
        prompt: params.prompt.map((each) =>
          each.role === 'user' && Array.isArray(each.content) && each.content[0]?.type === 'text'
            ? { ...each, content: [{ type: 'text', text: 'changed' }] }
            : each,
        ),
      }),
    })
    let inside: readonly Message[] = []
    const looks = defineMiddleware({
      name: 'looks',
      model(ctx, next) {
        inside = ctx.request.messages
        return next()
      },
    })
    await agentOf(model(6, text('Hi')), edits, looks).run([...history, { role: 'user', content: 'hello' }])
    expect(inside).toEqual([...history, { role: 'user', content: [{ type: 'text', text: 'changed' }] }])
  })

  test('tells observers the model as it is overridden', async () => {
    const ends: ModelEnd[] = []
    const agent = agentOf(
      model(6, text('Hi')),
      middleware({ overrideProvider: () => 'ours', overrideModelId: () => 'best' }),
    )
    agent.on('model:end', (event) => ends.push(event))
    await agent.run('hello')
    expect(ends.map(({ model }) => model)).toEqual(['ours/best'])
  })
})

test.each([[{}], [undefined], [{ wrapStream: 'no' }]])('%j is no middleware', (given) => {
  expect(() => fromAiSdkMiddleware(given as never, { as: 'x' })).toThrow(
    expect.objectContaining({ code: 'layer.config', message: expect.stringContaining('"x"') }),
  )
})

test('whatever the cuts, delays and failures, it says what streamText says', async () => {
  const piece = fc.record({ delta: fc.string({ maxLength: 5 }), late: fc.boolean() })
  const ending = fc.constantFrom('finish', 'error', 'cut')
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), ending, fc.boolean(), async (pieces, end, buffers) => {
      const last = { finish: [finishV3], error: [{ type: 'error', error: new Error('down') }], cut: [] }[end]
      const parts = [...text(...pieces.map(({ delta }) => delta)).slice(0, -1), ...last]
      const late = pieces.map((each) => each.late)
      const slows = () => {
        const kept: Part[] = []
        return middleware({
          wrapStream: async ({ doStream }) => ({
            stream: (await doStream()).stream.pipeThrough(
              new TransformStream<Part, Part>({
                async transform(part, out) {
                  if (late.shift() === true) await Promise.resolve().then(() => {})
                  kept.push(part)
                  if (!buffers) out.enqueue(kept.shift() as Part)
                },
                flush(out) {
                  for (const part of kept) out.enqueue(part)
                },
              }),
            ),
          }),
        })
      }
      const ours = await byAllium(model(6, parts), slows()).catch(() => 'failed')
      expect(ours).toEqual(end === 'finish' ? await byStreamText(6, model(6, parts), slows()) : 'failed')
    }),
    { numRuns: 60, seed: 11 },
  )
})

function streamBy(make: () => AsyncGenerator<Part>): { stream: ReadableStream<Part> } {
  return { stream: ReadableStream.from(make()) as ReadableStream<Part> }
}
function rename(part: Part): Part {
  return part.id === undefined ? part : { ...part, id: `second-${String(part.id)}` }
}
