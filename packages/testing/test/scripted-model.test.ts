import { Agent, type ModelChunk, type ModelRequest } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../src/index.ts'

const request = (over: Partial<ModelRequest> = {}): ModelRequest => ({
  messages: [{ role: 'user', content: 'hello' }],
  tools: [],
  toolChoice: 'auto',
  settings: {},
  responseFormat: { type: 'text' },
  signal: new AbortController().signal,
  principal: undefined,
  ...over,
})

async function read(stream: AsyncIterable<ModelChunk>): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

describe('scriptedModel', () => {
  it('streams a text word by word and finishes with the default usage', async () => {
    expect(await read(scriptedModel(['one two three ']).stream(request()))).toEqual([
      { type: 'text-delta', delta: 'one' },
      { type: 'text-delta', delta: ' two' },
      { type: 'text-delta', delta: ' three' },
      { type: 'text-delta', delta: ' ' },
      { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 5 } },
    ])
  })

  it('numbers tool calls over the whole script and sends broken arguments as they are', async () => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'a', args: { x: 1 } }, { name: 'b' }] },
      { toolCalls: [{ name: 'c', args: '{"x"' }] },
    ])
    const first = await read(model.stream(request()))
    const second = await read(model.stream(request()))
    const ids = [...first, ...second].flatMap((chunk) => (chunk.type === 'tool-input-start' ? [chunk.callId] : []))
    expect(ids).toEqual(['call-1', 'call-2', 'call-3'])
    expect(second.flatMap((chunk) => (chunk.type === 'tool-input-delta' ? [chunk.delta] : [])).join('')).toBe('{"x"')
    expect(first.at(-1)).toMatchObject({ type: 'finish', reason: 'tool-calls' })
  })

  it('throws an error step, an error after its chunks, and cuts a stream', async () => {
    const model = scriptedModel([new Error('down'), { chunks: ['a'], error: 'late' }, { text: 'a', cut: true }])
    await expect(read(model.stream(request()))).rejects.toThrow('down')
    const seen: ModelChunk[] = []
    const late = (async () => {
      for await (const chunk of model.stream(request())) seen.push(chunk)
    })()
    await expect(late).rejects.toBe('late')
    expect(seen).toEqual([{ type: 'text-delta', delta: 'a' }])
    expect(await read(model.stream(request()))).toEqual([{ type: 'text-delta', delta: 'a' }])
  })

  it('hangs at a stall until the signal aborts', async () => {
    const controller = new AbortController()
    const reading = read(scriptedModel([{ stall: true }]).stream(request({ signal: controller.signal })))
    controller.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
  })

  it('asks a function step with the request and its index', async () => {
    const model = scriptedModel(['a', async ({ messages }, index) => `${index}:${messages[0]?.content}`])
    await read(model.stream(request()))
    expect(await read(model.stream(request()))).toMatchObject([{ delta: '1:hello' }, { type: 'finish' }])
  })

  it('records requests as they were at the call, and counts calls and closed streams', async () => {
    const model = scriptedModel(['a', 'b'])
    const given = request()
    const stream = model.stream(given)[Symbol.asyncIterator]()
    await stream.next()
    expect([model.calls, model.closed]).toEqual([1, 0])
    await stream.return?.()
    ;(given.messages as unknown[]).push('later')
    expect(model.closed).toBe(1)
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: 'hello' }])
    expect(model.requests[0]?.signal).toBe(given.signal)
  })

  it('shows both sides when a call comes that the script has no step for', async () => {
    const model = scriptedModel(['only this'], { id: 'test/model' })
    const agent = new Agent({ model })
    await agent.run('first question')
    const failed = agent.run('second question').then()
    await expect(failed).rejects.toMatchObject({ code: 'test.script' })
    await expect(failed).rejects.toThrow('"test/model" was called 2 times, but its script has 1 step')
    await expect(failed).rejects.toThrow('✓ 1. "only this"')
    await expect(failed).rejects.toThrow('user: second question')
    await expect(failed).rejects.toThrow('tools: none')
  })

  it('done() shows both sides when steps are left, and is silent otherwise', async () => {
    const model = scriptedModel(['one', { text: 'two' }])
    await new Agent({ model }).run('question')
    expect(() => model.done()).toThrow(/✓ 1\. "one"\n {2}· 2\. {"text":"two"}[\s\S]*user: question/)
    await new Agent({ model }).run('question')
    model.done()
  })
})
