import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Middleware, ModelChunk } from '../src/index.ts'
import { build, tool, traffic, turn } from './kit.ts'

const search: ModelChunk[] = [
  { type: 'tool-input-start', callId: 's1', name: 'web_search', providerExecuted: true },
  { type: 'tool-input-delta', callId: 's1', delta: '{"q":"x"}' },
  { type: 'tool-input-end', callId: 's1' },
  { type: 'tool-result', callId: 's1', name: 'web_search', content: 'found it', providerMetadata: { p: { id: 1 } } },
]
const searchTool = { name: 'web_search', description: 'Search', providerExecuted: { id: 'p.search', args: { max: 3 } } }

describe('a tool that the provider executes', () => {
  it('is told to the model, skips the tool onion and ends the turn with the answer', async () => {
    let entered = 0
    const layer: Middleware = {
      name: 'tools',
      tool(_, next) {
        entered++
        return next()
      },
    }
    const { model, result, events } = await turn([{ chunks: [...search, 'It is x.'] }], [layer], {
      tools: [searchTool],
    })
    expect(model.requests[0]?.tools[0]).toMatchObject({
      name: 'web_search',
      providerExecuted: { id: 'p.search', args: { max: 3 } },
    })
    expect([result?.text, result?.status, model.calls, entered]).toEqual(['It is x.', 'completed', 1, 0])
    expect(events.some(({ type }) => type === 'tool:start')).toBe(false)
  })

  it('keeps call and result in the answer, in their order, and sends both in the next turn', async () => {
    const { session, agent, model } = await turn([{ chunks: ['Let me see. ', ...search, 'It is x.'] }, 'more'], [], {
      tools: [searchTool],
    })
    expect(session.history[1]?.content).toEqual([
      { type: 'text', text: 'Let me see. ' },
      { type: 'tool-call', callId: 's1', name: 'web_search', args: { q: 'x' }, providerExecuted: true },
      {
        type: 'tool-result',
        callId: 's1',
        name: 'web_search',
        content: 'found it',
        providerMetadata: { p: { id: 1 } },
      },
      { type: 'text', text: 'It is x.' },
    ])
    expect(session.pending).toEqual([])
    await session.run('and?')
    expect(agent).toBeDefined()
    expect(traffic(model.requests[1]!.messages)).toEqual({ calls: ['s1'], results: ['s1'] })
  })

  it('beside one of ours: only ours runs here, and each call has one result', async () => {
    const mine: ModelChunk[] = [
      { type: 'tool-input-start', callId: 'm1', name: 'work' },
      { type: 'tool-input-end', callId: 'm1' },
    ]
    const ran: unknown[] = []
    const { session, result } = await turn([{ chunks: [...search, ...mine] }, 'done'], [], {
      tools: [searchTool, tool('work', () => ran.push('work'))],
    })
    expect([ran, result?.text, result?.toolCalls.map(({ callId }) => callId)]).toEqual([['work'], 'done', ['m1']])
    expect(traffic(session.history)).toEqual({ calls: ['s1', 'm1'], results: ['s1', 'm1'] })
  })

  it('survives transforms and a rewritten text', async () => {
    const layers: Middleware[] = [
      {
        name: 'holder',
        async model(ctx, next) {
          ctx.hold()
          const response = await next()
          response.text = 'Rewritten.'
          return response
        },
      },
      {
        name: 'upper',
        model(ctx, next) {
          ctx.onChunk((chunk) =>
            chunk.type === 'text-delta' ? { ...chunk, delta: chunk.delta.toUpperCase() } : undefined,
          )
          return next()
        },
      },
    ]
    const { session, shown } = await turn([{ chunks: [...search, 'It is x.'] }], layers, { tools: [searchTool] })
    expect(shown).toBe('Rewritten.')
    expect(traffic(session.history)).toEqual({ calls: ['s1'], results: ['s1'] })
  })

  it('does not keep the strategy "final" from asking for the form', async () => {
    const steps = [{ chunks: [...search, 'Oslo.'] }, '{"city":"Oslo"}']
    const { agent, model } = build(steps, [], { tools: [searchTool] })
    const output = { schema: z.object({ city: z.string() }), strategy: 'final' } as const
    expect((await agent.run('Where?', { output })).output).toEqual({ city: 'Oslo' })
    expect(model.calls).toBe(2)
  })

  it('whose stream is cut leaves a history that is valid', async () => {
    const { session } = await turn([{ chunks: search.slice(0, 3), cut: true }], [], { tools: [searchTool] })
    expect(traffic(session.history).calls).toEqual(traffic(session.history).results)
    expect(() => session.restore(session.snapshot())).not.toThrow()
  })

  it('that never brought its result is closed, so that the history stays valid', async () => {
    const { session } = await turn([{ chunks: [...search.slice(0, 3), 'It is x.'] }], [], { tools: [searchTool] })
    expect(traffic(session.history).results).toEqual(traffic(session.history).calls)
    expect(session.history[1]?.content).toContainEqual(expect.objectContaining({ isError: true, missing: true }))
  })

  it('has one result where the provider sends two, and none where no call was', async () => {
    const stray: ModelChunk = { type: 'tool-result', callId: 'other', name: 'web_search', content: 'of no call' }
    const again: ModelChunk = { type: 'tool-result', callId: 's1', name: 'web_search', content: 'found more' }
    const { session } = await turn([{ chunks: [...search, stray, again] }], [], { tools: [searchTool] })
    expect(session.history[1]?.content).toMatchObject([{ type: 'tool-call' }, { content: 'found more' }])
    expect(() => session.restore(session.snapshot())).not.toThrow()
  })
})

describe('a tool that the provider defines and leaves to us', () => {
  const call: ModelChunk[] = [
    { type: 'tool-input-start', callId: 's1', name: 'web_search' },
    { type: 'tool-input-delta', callId: 's1', delta: '{"q":"x"}' },
    { type: 'tool-input-end', callId: 's1' },
  ]

  it('runs here where it has an execute', async () => {
    const execute = ({ q }: { q: string }) => ({ found: q })
    const { result } = await turn([{ chunks: call }, 'done'], [], { tools: [{ ...searchTool, execute }] })
    expect(result?.toolCalls).toMatchObject([{ result: { status: 'ok', content: '{"found":"x"}' } }])
  })

  it('is an error without one, and the log tells the mend', async () => {
    const { result, log } = await turn([{ chunks: call }, 'done'], [], { tools: [searchTool] })
    expect(result?.toolCalls).toMatchObject([
      { result: { status: 'error', content: expect.stringContaining('cannot be run here') } },
    ])
    expect(log).toMatchObject([{ message: expect.stringContaining('execute function') }])
  })
})

describe('a result that comes with a later answer', () => {
  const call = search.slice(0, 3)
  const result = search[3] as ModelChunk
  const mine: ModelChunk[] = [
    { type: 'tool-input-start', callId: 'm1', name: 'work' },
    { type: 'tool-input-end', callId: 'm1' },
  ]
  const tools = [searchTool, tool('work', () => 'worked')]
  const deferred = [{ chunks: [...call, ...mine] }, { chunks: [result, 'It is x.'] }]

  it('is the one of its call: none is made up, and the provider is sent none before it has told it', async () => {
    const { session, model } = await turn(deferred, [], { tools })
    expect(traffic(model.requests[1]!.messages)).toEqual({ calls: ['s1', 'm1'], results: ['m1'] })
    expect(session.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(session.history[3]?.content).toMatchObject([{ callId: 's1', content: 'found it' }, { text: 'It is x.' }])
  })

  it('survives a layer that rewrites the answer', async () => {
    const rewrites: Middleware = {
      name: 'rewrites',
      async model(ctx, next) {
        ctx.hold()
        const response = await next()
        return response.text === '' ? response : { ...response, text: 'Rewritten.' }
      },
    }
    const { session } = await turn(deferred, [rewrites], { tools })
    expect(session.history[3]?.content).toMatchObject([{ callId: 's1', content: 'found it' }, { text: 'Rewritten.' }])
  })

  it('may come after a human has decided in another process', async () => {
    const asks = { ...tools[1]!, requireApproval: true }
    const first = await turn([deferred[0]!], [], { tools: [searchTool, asks] })
    expect(first.session.pending.map(({ callId }) => callId)).toEqual(['m1'])
    const session = build([deferred[1]!], [], { tools: [searchTool, asks] }).agent.session()
    session.restore(first.session.snapshot())
    await session.resume({ m1: { approve: true } })
    expect(session.history.at(-1)?.content).toMatchObject([{ callId: 's1', content: 'found it' }, { text: 'It is x.' }])
  })

  it('is made up at the end of a turn that did not bring it, whatever ended it', async () => {
    for (const last of ['no result', new Error('lost'), { chunks: [...mine.map((c) => ({ ...c, callId: 'm2' }))] }]) {
      const { session } = await turn([deferred[0]!, last], [], { tools, maxSteps: 2 })
      expect(session.history[1]?.content).toContainEqual(expect.objectContaining({ callId: 's1', missing: true }))
      expect(() => session.restore(session.snapshot())).not.toThrow()
    }
  })

  it('is made up where the turn that waited for a human is given up', async () => {
    const asks = { ...tools[1]!, requireApproval: true }
    const { session } = await turn([deferred[0]!, 'new'], [], { tools: [searchTool, asks] })
    await session.run('never mind')
    expect(traffic(session.history)).toEqual({ calls: ['s1', 'm1'], results: ['s1', 'm1'] })
  })
})
