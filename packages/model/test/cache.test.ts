import { Agent, type Middleware, type ModelChunk } from '@allium/core'
import type { KeyValue } from '@allium/store'
import { historyProblems, layerConformance, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type CacheOptions, cache, memoryKeyValue } from '../src/index.ts'

const acme = { tenantId: 'acme', userId: 'dana' }

function scene(steps: readonly ScriptedStep[], options: CacheOptions = {}, more: Middleware[] = []) {
  const model = scriptedModel(steps)
  const log: string[] = []
  const note = (message: string) => void log.push(message)
  const look = { name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'seen' }
  const agent = new Agent({ model, tools: [look], logger: { warn: note, error: note } }).use(more).use(cache(options))
  const ask = (input = 'hi', principal: unknown = acme, settings = {}) =>
    agent.run(input, { session: { principal }, settings })
  return { agent, model, ask, log }
}

/** A step that hangs, and a promise of its beginning. */
function stalling() {
  let begin!: () => void
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const step: ScriptedStep = () => {
    begin()
    return { stall: true }
  }
  return { step, begun }
}

describe('model.cache', () => {
  it('answers the same question from the cache when its message has another id', async () => {
    const { agent, model } = scene(['Hello there.'])
    for (const id of ['m1', 'm2'])
      await agent.run({ role: 'user', content: 'hi', id }, { session: { principal: acme } })
    expect(model.requests).toHaveLength(1)
  })

  it('answers the same call from the cache, streamed, at no cost', async () => {
    const { ask, model, agent } = scene(['Hello there.'])
    let hits = 0
    agent.on('model:cache', () => hits++)
    const first = await ask()
    const run = ask()
    let shown = ''
    for await (const event of run) if (event.type === 'text-delta') shown += event.delta
    const { text, usage } = await run
    expect([text, shown, model.calls, hits]).toEqual([first.text, first.text, 1, 1])
    expect(usage).toMatchObject({ inputTokens: 0, outputTokens: 0, calls: 0 })
  })

  it('does not keep an answer in which the provider asks for an approval', async () => {
    const approvalRequest = { id: 'mcpr_1', provider: 'openai.responses' }
    const chunks: ModelChunk[] = [
      { type: 'tool-input-start', callId: 'c1', name: 'mcp.create', approvalRequest },
      { type: 'tool-input-end', callId: 'c1' },
    ]
    const { ask, model } = scene([{ chunks }, 'Another.'])
    expect([(await ask()).status, (await ask()).text, model.calls]).toEqual(['suspended', 'Another.', 2])
  })

  it.each<[string, (ask: ReturnType<typeof scene>['ask']) => PromiseLike<unknown>]>([
    ['other messages', (ask) => ask('other')],
    ['another tenant', (ask) => ask('hi', { tenantId: 'other' })],
    ['no tenant', (ask) => ask('hi', {})],
    ['other settings', (ask) => ask('hi', acme, { temperature: 1 })],
  ])('asks the model for %s', async (_, other) => {
    const { ask, model } = scene(['one', 'two'])
    await ask()
    await other(ask)
    expect(model.calls).toBe(2)
  })

  it.each([
    [
      'model',
      (ctx: { setModel(model: unknown): void }) => ctx.setModel(scriptedModel(['other'], { id: 'other/model' })),
    ],
    ['tools', (ctx: { removeTools(...names: string[]): void }) => ctx.removeTools('look')],
    ['form', (ctx: { responseFormat: unknown }) => (ctx.responseFormat = { type: 'json' })],
  ])('asks the model where a layer outside gives another %s', async (_, change) => {
    const { agent, ask, model } = scene(['one', 'two'], {}, [
      {
        name: 'change',
        model(ctx, next) {
          if (ctx.context === 'changed') change(ctx as never)
          return next()
        },
      },
    ])
    await ask()
    const { text } = await agent.run('hi', { session: { principal: acme, context: 'changed' } })
    expect([text === 'one', model.calls <= 2]).toEqual([false, true])
  })

  it('shares answers with whom it is told to', async () => {
    const calls = async (per: CacheOptions['per']) => {
      const { ask, model } = scene(['1', '2', '3'], { per })
      for (const userId of ['dana', 'hank', 'dana']) await ask('hi', { tenantId: 'acme', userId })
      return model.calls
    }
    expect([await calls('tenant'), await calls('user'), await calls('session')]).toEqual([1, 2, 3])
  })

  it('shares nothing between sessions whose tenant nobody knows', async () => {
    const { ask, model } = scene(['1', '2', '3'])
    for (const principal of [{ userId: 'dana' }, { userId: 'hank' }, undefined]) await ask('hi', principal as never)
    expect(model.calls).toBe(3)
  })

  it('shares no answer between a user and a session that has the id of that user', async () => {
    const { agent, model } = scene(['for dana', 'for nobody known'], { per: 'user' })
    await agent.session({ principal: acme }).run('hi')
    const { text } = await agent.session({ id: 'dana', principal: { tenantId: 'acme' } }).run('hi')
    expect([text, model.calls]).toEqual(['for nobody known', 2])
  })

  it('never keeps what a layer inside said in the place of the model', async () => {
    const { agent, model, ask } = scene(['whole'])
    let refuses = true
    agent.use('model', (ctx, next) => (refuses ? ctx.skipCall('Your plan is used up.') : next()))
    await ask()
    refuses = false
    expect([(await ask()).text, model.calls]).toEqual(['whole', 1])
  })

  it('makes one call of equal ones at the same time, and each gets its stream', async () => {
    const { ask, model } = scene(['Hello.'])
    const texts = await Promise.all(Array.from({ length: 5 }, async () => (await ask()).text))
    expect([texts, model.calls]).toEqual([Array(5).fill('Hello.'), 1])
  })

  it('asks for those who waited where the call that they waited for failed, or was aborted', async () => {
    const { ask, model } = scene([new Error('down'), 'up', 'up'])
    const outcomes = await Promise.allSettled([ask(), ask()])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const { step, begun } = stalling()
    const stalled = scene([step, 'fine'])
    const first = stalled.ask()
    const second = stalled.ask()
    await begun
    first.abort()
    await expect(first).rejects.toThrow('aborted')
    expect([(await second).text, model.calls, stalled.model.calls]).toEqual(['fine', 2, 2])
  })

  it('lets go of who waits and is aborted', async () => {
    const { step, begun } = stalling()
    const { ask } = scene([step])
    const first = ask()
    const second = ask()
    await begun
    second.abort()
    await expect(second).rejects.toThrow('aborted')
    first.abort()
    await first.catch(() => {})
  })

  it.each<[string, ScriptedStep]>([
    ['an error', new Error('down')],
    ['a stream that was cut', { text: 'Half', cut: true }],
    ['an answer that reached its length', { text: 'Too lo', finishReason: 'length' }],
    ['an answer that a filter ended', { text: '', finishReason: 'content-filter' }],
  ])('never keeps %s', async (_, step) => {
    const { ask, model } = scene([step, 'whole'])
    await ask().then(undefined, () => {})
    expect([(await ask()).text, model.calls]).toEqual(['whole', 2])
  })

  it('gives tool calls ids of their own, so that the history stays valid', async () => {
    const call: ScriptedStep = { toolCalls: [{ name: 'look', callId: 'c1', args: { at: 1 } }] }
    const { agent, model } = scene([call, 'Seen.', 'never'], { when: ({ callIndex }) => callIndex === 0 }, [
      {
        name: 'forget',
        model(ctx, next) {
          if (ctx.callIndex === 0) ctx.messages = ctx.messages.slice(-1)
          return next()
        },
      },
    ])
    const session = agent.session({ principal: acme })
    await session.run('look')
    await session.run('look')
    expect([historyProblems(session.history), model.calls]).toEqual([[], 3])
  })

  it.each<[string, ModelChunk[]]>([
    ['whose result the provider still owes', []],
    ['that the provider paused', [{ type: 'finish', reason: 'stop', paused: true, usage: {} }]],
  ])('keeps no answer %s', async (_, last) => {
    const call = (callId: string, name: string, providerExecuted: boolean): ModelChunk[] => [
      { type: 'tool-input-start', callId, name, providerExecuted },
      { type: 'tool-input-end', callId },
    ]
    const calls = last.length > 0 ? [] : call('p', 'search', true)
    const open: ScriptedStep = { chunks: [...calls, ...call('c', 'look', false), ...last] }
    const { ask, model } = scene([open, 'done', open, 'done'])
    await ask()
    await ask()
    expect(model.requests.filter(({ messages }) => messages.length === 1)).toHaveLength(2)
  })

  it('forgets after its time', async () => {
    const times: unknown[] = []
    const store: KeyValue = { ...memoryKeyValue(), set: (_key, _value, ttl) => times.push(ttl) }
    await scene(['a'], { store, ttl: 5000 }).ask()
    expect(times).toEqual([5000])
    expect(() => cache({ ttl: 0 })).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })

  it('asks the model where its store fails, and says so in the log alone', async () => {
    const fail = () => Promise.reject(new Error('redis is down'))
    const { ask, log } = scene(['one'], { store: { get: fail, set: fail, delete: fail } })
    const result = await ask()
    expect([result.text, log]).toEqual([
      'one',
      ['"model:cache" could not read its store, so the model is called.', '"model:cache" could not write its store.'],
    ])
  })

  it('gives each its own copy', async () => {
    const rude: Middleware = {
      name: 'rude',
      async model(ctx, next) {
        ctx.hold()
        const response = await next()
        response.text += '!'
        return response
      },
    }
    const { ask } = scene(['Hello'], {}, [rude])
    expect([(await ask()).text, (await ask()).text, (await ask()).text]).toEqual(['Hello!', 'Hello!', 'Hello!'])
  })
})

layerConformance({ layer: () => cache({ when: () => false }), describe, it })
