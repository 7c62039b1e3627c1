import { Agent, AlliumError, isAlliumError, type Message, type ModelChunk } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { type Cassette, recordModel, replayModel, type ScriptedStep, scriptedModel } from '../../src/index.ts'
import { ask, call, request } from '../model-calls.ts'

/** The cassette as a file would give it back. */
function stored({ cassette }: { cassette: Cassette }): Cassette {
  return JSON.parse(JSON.stringify(cassette))
}

describe('recordModel and replayModel', () => {
  it('replay a whole turn with a tool: same chunks, same answer, and the model is not called', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'add', args: { a: 1, b: 2 } }] }, 'It is 3.'], { id: 'p/m' })
    const recorder = recordModel(model)
    const add = {
      name: 'add',
      description: 'Adds',
      jsonSchema: { type: 'object' },
      execute: ({ a, b }: { a: number; b: number }) => a + b,
    }
    const recorded = await new Agent({ model: recorder, tools: [add] }).run('1 + 2?')
    const replayed = replayModel(stored(recorder))
    const again = await new Agent({ model: replayed, tools: [add] }).run('1 + 2?')
    expect([again.text, again.usage, again.messages]).toEqual([recorded.text, recorded.usage, recorded.messages])
    expect([replayed.id, model.calls]).toEqual(['p/m', 2])
    replayed.done()
  })

  it('keep bytes, URLs and fields that look like their tags', async () => {
    const recorder = recordModel(
      scriptedModel([{ chunks: [{ type: 'file', data: Uint8Array.of(0, 255), mediaType: 'image/png' }] }]),
    )
    const content: Message['content'] = [
      { type: 'image', data: Uint8Array.of(1, 2), mediaType: 'image/png' },
      { type: 'image', data: new URL('https://example.com/a.png'), mediaType: 'image/png' },
      { type: 'tool-call', callId: 'c', name: 't', args: { a: { $bytes: 'AQI=' }, b: { $object: 1 } } },
    ]
    const asked = request({ messages: [{ role: 'assistant', content }] })
    const first = await call(recorder, asked)
    const second = await call(replayModel(stored(recorder)), asked)
    expect(second).toEqual(first)
    expect(second.chunks[0]).toMatchObject({ data: Uint8Array.of(0, 255) })
    const other = structuredClone(content.slice(2)) as Message['content']
    const missed = await call(replayModel(stored(recorder)), request({ messages: [{ role: 'user', content: other }] }))
    expect(missed.error).toMatchObject({ code: 'test.cassette' })
  })

  it.each<[string, ScriptedStep]>([
    ['a cut stream', { text: 'Hel lo', cut: true }],
    ['a text that is thrown', { chunks: ['a'], error: 'late' }],
  ])('replay %s as it was', async (_, step) => {
    const recorder = recordModel(scriptedModel([step]))
    const first = await call(recorder)
    expect(await call(replayModel(stored(recorder)))).toEqual(first)
    expect(first.chunks.some(({ type }) => type === 'finish')).toBe(false)
  })

  it('replay an error with all that retries read, down to its cause, and nothing else', async () => {
    const cause = Object.assign(new Error('socket'), { code: 'ECONNRESET' })
    const thrown = Object.assign(new TypeError('slow down', { cause }), {
      status: 429,
      isRetryable: true,
      responseHeaders: { 'Retry-After': '7', 'set-cookie': 'id=1' },
      requestBodyValues: { messages: ['private'] },
    })
    const recorder = recordModel(scriptedModel([thrown]))
    await call(recorder)
    const { error } = await call(replayModel(stored(recorder)))
    expect(error).toBeInstanceOf(Error)
    const kept = { name: 'TypeError', message: 'slow down', status: 429, isRetryable: true }
    expect(error).toMatchObject({ ...kept, headers: { 'retry-after': '7' }, cause: { code: 'ECONNRESET' } })
    expect(JSON.stringify(recorder.cassette)).not.toMatch(/private|cookie|stack/)
  })

  it('replay an AlliumError as one', async () => {
    const recorder = recordModel(scriptedModel([new AlliumError('model.failed', 'broke off')]))
    await call(recorder)
    const { error } = await call(replayModel(stored(recorder)))
    expect(isAlliumError(error, 'model.failed')).toBe(true)
  })

  it('close the model when the reader leaves, mark the call as left, and wait there when it is replayed', async () => {
    const model = scriptedModel(['one two three'])
    const recorder = recordModel(model)
    const run = new Agent({ model: recorder }).run('hello')
    for await (const event of run) if (event.type === 'text-delta') break
    await run.settled()
    await expect.poll(() => model.closed).toBe(1)
    const [entry] = recorder.cassette.entries
    expect(entry?.left).toBe(true)
    expect(entry?.chunks[0]).toMatchObject({ delta: 'one' })
    expect(entry?.chunks.some(({ type }) => type === 'finish')).toBe(false)

    const controller = new AbortController()
    const seen: ModelChunk[] = []
    const asked = request({ signal: controller.signal })
    const reading = (async () => {
      for await (const chunk of replayModel(stored(recorder)).stream(asked)) seen.push(chunk)
    })()
    controller.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
    expect(seen).toEqual(entry?.chunks)
  })

  it('count a call that was aborted as left, not as failed', async () => {
    const controller = new AbortController()
    const recorder = recordModel(scriptedModel([{ text: 'a', stall: true }]))
    const reading = call(recorder, request({ signal: controller.signal }))
    controller.abort(new Error('gone'))
    await reading
    expect(recorder.cassette.entries).toMatchObject([{ left: true, chunks: [{ delta: 'a' }] }])
    expect(recorder.cassette.entries[0]).not.toHaveProperty('error')
  })

  it('leave out the mark of a call whose reader stops at its finish', async () => {
    const recorder = recordModel(scriptedModel(['hi']))
    for await (const chunk of recorder.stream(request())) if (chunk.type === 'finish') break
    expect(recorder.cassette.entries[0]).not.toHaveProperty('left')
  })

  it('answer equal calls in their order, and different ones in any', async () => {
    const recorder = recordModel(scriptedModel(['a1', 'b', 'a2']))
    for (const text of ['a', 'b', 'a']) await call(recorder, ask(text))
    const replayed = replayModel(stored(recorder))
    const said = []
    for (const text of ['b', 'a', 'a']) said.push((await call(replayed, ask(text))).chunks[0])
    expect(said).toMatchObject([{ delta: 'b' }, { delta: 'a1' }, { delta: 'a2' }])
  })

  it('match whoever acts, and settings in any order', async () => {
    const recorder = recordModel(scriptedModel(['hi']))
    await call(recorder, request({ settings: { topP: 1, seed: 2 }, principal: 'ada' }))
    const asked = request({ settings: { seed: 2, topP: 1, temperature: undefined }, principal: 'dana' })
    expect((await call(replayModel(stored(recorder)), asked)).error).toBeUndefined()
  })
})
