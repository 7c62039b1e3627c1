import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../testing/src/index.ts'
import { Agent, type AnyMiddleware, type ModelChunk } from '../src/index.ts'
import { oneCall, only, reach, tool, turn, types } from './kit.ts'

describe('the stream of a run', () => {
  it('tells one turn from its start to its end, in order', async () => {
    const { events } = await turn(
      [{ reasoning: 'hm', text: 'Looking.', toolCalls: [{ name: 'work', callId: 'c1', args: { n: 1 } }] }, 'Done.'],
      [],
      { tools: [tool('work')] },
    )
    expect(types(events)).toEqual([
      ...['turn:start', 'step:start', 'reasoning-delta', 'text-delta'],
      ...['tool-input-start', 'tool-input-delta', 'tool-input-end', 'finish'],
      ...['tool:start', 'tool:end', 'step:end', 'step:start', 'text-delta', 'finish', 'step:end', 'turn:end'],
    ])
  })

  it('says in each event where it happened', async () => {
    const { events, session, result } = await turn(oneCall, [], { tools: [tool('work')] })
    const place = { sessionId: session.id, turnId: result?.turnId }
    expect(events[0]).toEqual({ type: 'turn:start', ...place, turnIndex: 0 })
    expect(events.find(({ type }) => type === 'tool:start')).toEqual({
      type: 'tool:start',
      ...place,
      stepIndex: 0,
      callId: 'c1',
      name: 'work',
      args: {},
    })
    expect(events.find(({ type }) => type === 'tool:end')).toEqual({
      type: 'tool:end',
      ...place,
      stepIndex: 0,
      callId: 'c1',
      name: 'work',
      status: 'ok',
      content: 'worked',
      isError: false,
    })
    expect(only(events, 'step:start').map(({ stepIndex }) => stepIndex)).toEqual([0, 1])
    expect(events.at(-1)).toEqual({
      type: 'turn:end',
      ...place,
      turnIndex: 0,
      status: 'completed',
      usage: { inputTokens: 20, outputTokens: 10, calls: 2 },
    })
  })

  it('carries chunks flat, with their ids and provider metadata', async () => {
    const chunks: ModelChunk[] = [
      { type: 'text-delta', delta: 'a', id: '1', providerMetadata: { p: { x: 1 } } },
      { type: 'source', url: 'https://example.com', title: 'Example' },
      { type: 'file', data: 'aGk=', mediaType: 'text/plain' },
    ]
    const { events } = await turn([{ chunks }])
    expect(events.slice(2, 5)).toEqual(chunks)
    expect(events.find(({ type }) => type === 'finish')).toEqual({
      type: 'finish',
      reason: 'stop',
      usage: { inputTokens: 10, outputTokens: 5, calls: 1 },
    })
  })

  it('carries what layers emit, in its place', async () => {
    const { events } = await turn(
      ['ok'],
      [
        async (ctx, next) => {
          ctx.emit({ type: 'test:before', n: 1 })
          await next()
          ctx.emit({ type: 'test:after' })
        },
      ],
    )
    expect(types(events)).toEqual([
      'turn:start',
      'test:before',
      'step:start',
      'text-delta',
      'finish',
      'step:end',
      'test:after',
      'turn:end',
    ])
  })

  it.each([
    ['completed', ['ok'], []],
    [
      'stopped',
      ['ok'],
      [
        (ctx: { stop(): void }, next: () => Promise<void>) => {
          ctx.stop()
          return next()
        },
      ],
    ],
    ['blocked', [], [(ctx: { block(reason: string): never }) => ctx.block('no')]],
    ['aborted', [], [(ctx: { abort(): never }) => ctx.abort()]],
    ['failed', [new Error('down')], []],
  ])('ends with exactly one turn:end: %s', async (status, steps, layers) => {
    const { events } = await turn(steps, layers as never[])
    expect(events.filter(({ type }) => type === 'turn:end')).toMatchObject([{ status }])
    expect(events.at(-1)?.type).toBe('turn:end')
  })

  it('tells the user nothing of what was thrown, in a failed turn as in a failed tool', async () => {
    const secret = new Error('SECRET-TOKEN')
    const failed = await turn([secret])
    const soft = await turn(oneCall, [], {
      tools: [
        tool('work', () => {
          throw secret
        }),
      ],
    })
    expect(reach([failed.events, soft.events])).not.toContain('SECRET-TOKEN')
  })

  it('tells no event what the caller said, before a layer or after it: one of them may redact it', async () => {
    const redact: AnyMiddleware = {
      name: 'redact',
      turn(ctx, next) {
        ctx.input = [{ role: 'user', content: 'redacted' }]
        return next()
      },
    }
    const seen: unknown[] = []
    const agent = new Agent({ model: scriptedModel(oneCall), tools: [tool('work')] }).use(redact)
    for (const name of ['turn:start', 'step:start', 'model:start', 'model:end', 'tool:start', 'turn:end'] as const)
      agent.on(name, (event) => seen.push(event))
    const run = agent.run('SECRET-TOKEN')
    for await (const event of run) seen.push(event)
    expect(reach(seen)).not.toContain('SECRET-TOKEN')
  })

  it('gives the reader events of its own: changing them changes neither history nor result', async () => {
    const { events, session, result } = await turn(
      [{ toolCalls: [{ name: 'work', args: { deep: { n: 1 } }, callId: 'c1' }] }, 'done'],
      [],
      { tools: [tool('work')] },
    )
    const before = JSON.stringify([session.history, result])
    const vandals = [
      () => Object.assign((only(events, 'tool:start')[0]!.args as { deep: object }).deep, { n: 666 }),
      () => Object.assign(only(events, 'turn:end')[0]!.usage as object, { calls: 666 }),
    ]
    for (const vandal of vandals)
      try {
        vandal()
      } catch {
        // a frozen event is as good as a copy
      }
    expect(JSON.stringify([session.history, result])).toBe(before)
  })
})
