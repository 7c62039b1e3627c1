import { describe, expect, it } from 'vitest'
import { Agent, type Middleware, type Model, type ModelChunk } from '../src/index.ts'
import { only, parts, read, tool } from './kit.ts'

const warning = { type: 'unsupported', feature: 'temperature' }
const finish: ModelChunk = {
  type: 'finish',
  reason: 'stop',
  rawReason: 'end_turn',
  usage: { inputTokens: 1 },
  responseId: 'r-1',
  providerMetadata: { p: { cost: 3 } },
  warnings: [warning],
}
const done: ModelChunk[] = [{ type: 'text-delta', delta: 'done' }, finish]

/** A model that sends one list of chunks for each call. */
function sends(...answers: ModelChunk[][]): Model & { sent: unknown[] } {
  const sent: unknown[] = []
  return {
    id: 'p/m',
    sent,
    async *stream({ messages }) {
      sent.push(structuredClone(messages))
      yield* answers[sent.length - 1] ?? []
    },
  }
}

describe('what a provider tells at the end of its answer', () => {
  it('is in the result, in the stream and with observers', async () => {
    const agent = new Agent({ model: sends(done) })
    const heard: object[] = []
    agent.on('model:end', (event) => heard.push(event))
    agent.on('model:warning', (event) => heard.push(event))
    const run = agent.run('hi')
    const told = { rawFinishReason: 'end_turn', responseId: 'r-1', providerMetadata: { p: { cost: 3 } } }
    expect(await run).toMatchObject({ finishReason: 'stop', ...told, warnings: [warning] })
    const { rawFinishReason: rawReason, ...rest } = told
    expect(heard).toMatchObject([
      { model: 'p/m', warning },
      { finishReason: 'stop', rawReason, ...rest },
    ])
    const { events } = await read(run)
    expect(only(events, 'model:warning')).toMatchObject([{ model: 'p/m', warning, stepIndex: 0 }])
    expect(only(events, 'finish')).toMatchObject([{ rawReason, ...rest }])
  })

  it('passes layers that transform, hold and change the answer', async () => {
    const layer: Middleware = {
      name: 'changes',
      async model(ctx, next) {
        ctx.hold()
        ctx.onChunk((chunk) => chunk)
        return { ...(await next()), text: 'Changed.' }
      },
    }
    const result = await new Agent({ model: sends(done) }).use(layer).run('hi')
    expect(result).toMatchObject({
      text: 'Changed.',
      rawFinishReason: 'end_turn',
      providerMetadata: { p: { cost: 3 } },
    })
  })

  it('is that of the last step, with the warnings of all, each once', async () => {
    const other = { type: 'other', message: 'slow' }
    const call: ModelChunk[] = [
      { type: 'tool-input-start', callId: 'c1', name: 'work' },
      { type: 'tool-input-end', callId: 'c1' },
      { ...finish, reason: 'tool-calls', warnings: [warning, other] } as ModelChunk,
    ]
    const result = await new Agent({ model: sends(call, done), tools: [tool('work')] }).run('hi')
    expect(result.warnings).toEqual([warning, other])
    expect(result.finishReason).toBe('stop')
  })

  it('is absent where the provider tells nothing', async () => {
    const result = await new Agent({ model: sends([{ type: 'finish', reason: 'stop', usage: {} }]) }).run('hi')
    expect(Object.keys(result)).not.toEqual(expect.arrayContaining(['rawFinishReason']))
    expect(result).not.toHaveProperty('warnings')
  })
})

describe('an answer that the provider paused', () => {
  const paused: ModelChunk[] = [
    { type: 'text-delta', delta: 'one ' },
    { type: 'finish', reason: 'other', rawReason: 'pause_turn', paused: true, usage: {} },
  ]

  it('is sent back as it is, and goes on in another step', async () => {
    const model = sends(paused, done)
    const result = await new Agent({ model }).run('hi')
    expect(result).toMatchObject({ text: 'done', finishReason: 'stop', usage: { calls: 2 } })
    expect(model.sent[1]).toMatchObject([{ role: 'user' }, { role: 'assistant', content: 'one ' }])
  })

  it('goes on within the bound of steps', async () => {
    const result = await new Agent({ model: sends(paused, paused, paused), maxSteps: 2 }).run('hi')
    expect(result).toMatchObject({ status: 'stopped', reason: 'max_steps' })
  })

  it('loses nothing that a layer of the turn still holds back', async () => {
    const upper: Middleware = {
      name: 'upper',
      turn(ctx, next) {
        ctx.pipe(async function* (chunks) {
          let text = ''
          for await (const chunk of chunks) if (chunk.type === 'text-delta') text += chunk.delta
          yield { type: 'text-delta', delta: text.toUpperCase() }
        })
        return next()
      },
    }
    const agent = new Agent({ model: sends(paused, done) }).use(upper)
    const session = agent.session()
    const { all } = await read(session.run('hi'))
    expect(all).toBe('ONE DONE')
    expect(session.history.map(({ content }) => content)).toEqual(['hi', 'ONE ', 'DONE'])
  })
})

describe('a part that only its provider knows', () => {
  it('keeps its place in the answer, and goes back with the next call', async () => {
    const custom: ModelChunk = { type: 'custom', kind: 'p.compaction', providerMetadata: { p: { item: 1 } } }
    const model = sends([custom, ...done], done)
    const session = new Agent({ model }).session()
    await session.run('hi')
    await session.run('more')
    expect(model.sent[1]).toMatchObject([{}, { content: [custom, { type: 'text', text: 'done' }] }, {}])
    expect(() => session.restore(session.snapshot())).not.toThrow()
  })
})

describe('a tool result in the history', () => {
  it.each([
    ['an object', { a: 1 }, true],
    ['a number', 3, true],
    ['a text that looks like JSON', '{"a":1}', undefined],
  ])('that was %s says whether it is JSON', async (_, value, json) => {
    const call: ModelChunk[] = [
      { type: 'tool-input-start', callId: 'c1', name: 'work' },
      { type: 'tool-input-end', callId: 'c1' },
      { type: 'finish', reason: 'tool-calls', usage: {} },
    ]
    const session = new Agent({ model: sends(call, done), tools: [tool('work', () => value)] }).session()
    await session.run('hi')
    expect(session.history[2]?.content).toEqual([expect.objectContaining({ callId: 'c1' })])
    expect(parts(session.history).map((part) => 'json' in part && part.json)).toEqual([false, json ?? false])
  })
})

it('deltas of one id are one block, whatever comes between; those of another begin another', async () => {
  const call: ModelChunk[] = [
    { type: 'tool-input-start', callId: 's1', name: 'search', providerExecuted: true },
    { type: 'tool-input-end', callId: 's1' },
    { type: 'tool-result', callId: 's1', name: 'search', content: 'found' },
  ]
  const text = (id: string, delta: string): ModelChunk => ({ type: 'text-delta', id, delta })
  const model = sends([text('0', 'a'), ...call, text('0', 'b'), text('1', 'c'), text('0', 'd'), finish])
  const session = new Agent({ model }).session()
  expect((await session.run('hi')).text).toBe('abcd')
  const texts = parts(session.history).map((part) => (part.type === 'text' ? part.text : part.type))
  expect(texts).toEqual(['ab', 'tool-call', 'tool-result', 'c', 'd'])
})

it('an empty delta says something of the block with its id, wherever that stands', async () => {
  const session = new Agent({
    model: sends([
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'text-delta', id: 't', delta: 'Hi.' },
      { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: { p: { sig: 's' } } },
      finish,
    ]),
  }).session()
  await session.run('hi')
  expect(session.history[1]?.content).toEqual([
    { type: 'reasoning', text: 'Hm.', providerMetadata: { p: { sig: 's' } } },
    { type: 'text', text: 'Hi.' },
  ])
})

it('a call of which the provider tells only at its end that it ran it runs nowhere else', async () => {
  const call: ModelChunk[] = [
    { type: 'tool-input-start', callId: 's1', name: 'web_search' },
    { type: 'tool-input-end', callId: 's1', providerExecuted: true },
    { type: 'tool-result', callId: 's1', name: 'web_search', content: 'found' },
  ]
  const ran: string[] = []
  const own = tool('web_search', () => ran.push('own'))
  const model = sends([...call, ...done])
  const session = new Agent({ model, tools: [own] }).session()
  await session.run('hi')
  expect([ran, session.history[1]?.content[0]]).toMatchObject([[], { type: 'tool-call', providerExecuted: true }])
})
