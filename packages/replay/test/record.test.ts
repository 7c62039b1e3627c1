import { Agent, delegate, type Journal, type Middleware } from '@allium/core'
import { recordStepValue, replayStep, type StepValue } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import type { RecordingSink } from '../src/index.ts'
import { oneCall, recorded, work } from './kit.ts'

describe('record()', () => {
  it('keeps the input before any layer, the raw chunks, the tool call and the result', async () => {
    const loud: Middleware = {
      name: 'loud',
      turn(ctx, next) {
        ctx.input = [{ role: 'user', content: 'HI' }]
        return next()
      },
      model(ctx, next) {
        ctx.onChunk((chunk) => (chunk.type === 'text-delta' ? { ...chunk, delta: '[removed]' } : chunk))
        return next()
      },
    }
    const { agent, turns } = recorded(oneCall, [loud])
    await agent.run('hi', { session: { principal: { tenantId: 'acme' } }, maxSteps: 3 })
    const [turn] = turns()
    expect(turn).toMatchObject({
      task: { input: 'hi', options: { maxSteps: 3 } },
      principal: { tenantId: 'acme' },
      result: { status: 'completed', answer: '[removed]' },
    })
    expect(turn?.notReplayable).toBeUndefined()
    expect(turn?.steps.map(({ id, result }) => [id.replace(/^.*:\d+:(model|tool)/, '$1'), result])).toMatchObject([
      ['model:0:1', { type: 'finish', reason: 'tool-calls' }],
      ['tool:c1:1', { content: 'result 1', status: 'ok' }],
      ['model:1:1', { type: 'finish' }],
    ])
    expect(JSON.stringify(turn?.steps)).toContain('"delta":"done"')
  })

  it('keeps each request as sent, as a difference to the history and to the request before', async () => {
    const { agent, turns } = recorded(['first', ...oneCall], [], { instructions: 'Be brief.' })
    const session = agent.session()
    await session.run('one')
    await session.run('two')
    const [, turn] = turns()
    expect(turn?.requests.map(({ messages, tools }) => [messages, tools?.length])).toEqual([
      [
        [
          { messages: [{ role: 'system', content: 'Be brief.' }] },
          { of: 'history', from: 0, count: 2 },
          { messages: [{ role: 'user', content: 'two' }] },
        ],
        1,
      ],
      [
        [
          { of: 'before', from: 0, count: 4 },
          { messages: [expect.objectContaining({ role: 'assistant' }), expect.objectContaining({ role: 'tool' })] },
        ],
        undefined,
      ],
    ])
  })

  it('names the layer that decided, and no layer that passed the call on', async () => {
    const passes: Middleware = { name: 'passes', tool: (_, next) => next() }
    const denies: Middleware = {
      name: 'denies',
      tool(ctx, next) {
        ctx.deny('not today')
        return next()
      },
    }
    const answers: Middleware = { name: 'answers', model: (ctx, next) => (ctx.callIndex === 1 ? 'mine' : next()) }
    const { agent, turns } = recorded(oneCall, [passes, denies, answers])
    await agent.run('hi')
    expect(turns()[0]?.decisions).toMatchObject([
      { layer: 'denies', scope: 'tool', call: 'c1', decision: 'denied', reason: 'not today' },
      { layer: 'answers', scope: 'model', call: 1, decision: 'skipped' },
    ])
  })

  it('keeps results of once(), failed calls with their errors, and the retries of a layer', async () => {
    const retries: Middleware = {
      name: 'retries',
      async model(_, next) {
        try {
          return await next()
        } catch {
          return next()
        }
      },
    }
    const picks: Middleware = {
      name: 'picks',
      async turn(ctx, next) {
        await ctx.once('pick', () => 7)
        await next()
      },
    }
    const { agent, turns } = recorded([{ error: new Error('down') }, 'ok'], [picks, retries])
    await agent.run('hi')
    const [turn] = turns()
    expect(turn?.steps).toMatchObject([
      { id: expect.stringContaining(':once:pick:1'), result: 7 },
      { id: expect.stringContaining(':model:0:1'), error: { name: 'Error', message: 'down' } },
      { id: expect.stringContaining(':model:0:2') },
    ])
    expect(turn?.decisions).toMatchObject([
      { scope: 'model', decision: 'failed' },
      { layer: 'retries', decision: 'retried' },
    ])
  })

  it('keeps the steps, the requests and the decisions of sub-agents with their caller', async () => {
    const denies: Middleware = { name: 'own', tool: (ctx) => ctx.deny('no') }
    const child = new Agent({ name: 'child', model: scriptedModel(oneCall), tools: [work] }).use(denies)
    const research = { ...work, execute: async (_: unknown, ctx: never) => (await delegate(ctx, child, 'find'))?.text }
    const { agent, turns } = recorded(oneCall, [], { tools: [research as never] })
    await agent.run('hi')
    const [turn] = turns()
    expect(turn?.requests.map(({ turnId, call }) => [turnId.split('/').length, call])).toEqual([
      [1, 0],
      [2, 0],
      [2, 1],
      [1, 1],
    ])
    expect(turn?.decisions).toMatchObject([{ layer: 'own', decision: 'denied' }])
    expect([turns().length, turn?.steps.length]).toEqual([1, 5])
  })

  it('records under the journal of a run too, and counts a restarted turn whose steps ran elsewhere', async () => {
    const known = new Map<string, StepValue>()
    const journal: Journal = {
      async step(id, work, emit) {
        const value = known.get(id)
        if (value !== undefined) return replayStep(value, emit as never) as never
        return recordStepValue(
          work as never,
          emit as never,
          async (made: StepValue) => void known.set(id, made),
        ) as never
      },
    }
    const { agent, turns, recorder } = recorded(['ok', 'never'])
    await agent.run('hi', { turnId: 't1', journal })
    await agent.run('hi', { turnId: 't1', journal })
    expect(turns().map(({ notReplayable }) => notReplayable)).toEqual([undefined, ['steps ran in another process']])
    expect(JSON.stringify(turns()[0])).not.toContain('step:input')
    expect(recorder.counts()).toMatchObject({ recorded: 2, notReplayable: { 'steps ran in another process': 1 } })
  })
})

describe('the options of record()', () => {
  it('leave out runs that skip refuses, or that it fails to judge, and runs outside the sample', async () => {
    const skip = ({ context }: { context: unknown }) => (context as { refuses: boolean }).refuses
    const some = recorded(['a', 'b', 'c'], [], { options: { skip } })
    await some.agent.run('hi', { context: { refuses: true } })
    await some.agent.run('hi', { context: { refuses: false } })
    await some.agent.run('hi', { context: null })
    const none = recorded(['a'], [], { options: { sample: 0 } })
    await none.agent.run('hi')
    expect([some.turns().length, some.recorder.counts().skipped, none.turns().length]).toEqual([1, 2, 0])
  })

  it('bound a recording: of one that is too large only the result is kept, with the reason', async () => {
    const { agent, turns, recorder } = recorded(['x'.repeat(5_000)], [], { options: { maxBytes: 2_000 } })
    await agent.run('hi')
    expect(turns()[0]).toMatchObject({
      steps: [],
      result: { status: 'completed' },
      notReplayable: ['larger than maxBytes'],
    })
    expect(recorder.counts().notReplayable).toEqual({ 'larger than maxBytes': 1 })
  })

  it('scrub every text before it is stored', async () => {
    const { agent, kept } = recorded(['call 555'], [], { options: { scrub: (text) => text.replaceAll('555', '***') } })
    await agent.run('I am 555')
    expect(kept[0]?.content).not.toContain('555')
    expect(kept[0]?.content).toContain('"scrubbed":true')
  })

  it('do not delay the run: the next run of the session waits for them, and the session when it closes', async () => {
    const [adding, ends] = [[] as string[], [] as (() => void)[]]
    const store: RecordingSink = {
      sealed: true,
      add: ({ turnId }) => new Promise((end) => ends.push(end) && adding.push(turnId)),
    }
    const session = recorded(['one', 'two'], [], { options: { store } }).agent.session()
    const [first, second] = [await session.run('1'), session.run('2')]
    expect(adding).toEqual([first.turnId])
    ends[0]?.()
    const closed = (await second) && session.close().then(() => 'closed')
    expect(await Promise.race([closed, Promise.resolve('open')])).toBe('open')
    ends[1]?.()
    expect([await closed, adding.length]).toEqual(['closed', 2])
  })

  it('give each recording an end, and a store that fails does not fail the run', async () => {
    const { agent, kept } = recorded(['ok'], [], { options: { expiresIn: 1_000 } })
    await agent.run('hi')
    expect((kept[0]?.expiresAt ?? 0) - (kept[0]?.startedAt ?? 0)).toBeGreaterThanOrEqual(1_000)
    const store = { sealed: true, add: () => Promise.reject(new Error('full')) }
    const failing = recorded(['ok'], [], { options: { store } })
    expect((await failing.agent.run('hi')).status).toBe('completed')
    expect(failing.recorder.counts()).toMatchObject({ recorded: 0, failed: 1 })
  })
})
