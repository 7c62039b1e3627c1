import { Agent, type AnyMiddleware, type AnyTool, delegate } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type UsageOptions, usage } from '../src/index.ts'

describe('observe.usage', () => {
  it('counts tokens and cost of a call', async () => {
    const model = scriptedModel(['hi'], { id: 'anthropic/claude-sonnet-4-6' })
    const { state, text } = await new Agent({ model }).use(usage()).run('hello')
    expect(text).toBe('hi')
    expect(state['observe:usage:tokens']).toEqual({ inputTokens: 10, outputTokens: 5, calls: 1 })
    expect(state['observe:usage:cost']).toBeCloseTo((10 * 3 + 5 * 15) / 1e6, 12)
  })

  it('adds up the calls and turns of a session', async () => {
    const session = agentOf([callsTool, 'a', 'b']).session()
    await session.run('hello')
    const { state } = await session.run('hello')
    expect(state['observe:usage:tokens']).toEqual({ inputTokens: 30, outputTokens: 15, calls: 3 })
    expect(state['observe:usage:cost']).toBe(30 * 1 + 15 * 2)
  })

  it('keeps sessions apart', async () => {
    const agent = agentOf(['a', 'b'])
    const [one, two] = await Promise.all([agent.run('hello'), agent.run('hello')])
    expect(one.state['observe:usage:tokens'].calls).toBe(1)
    expect(two.state['observe:usage:tokens'].calls).toBe(1)
  })

  it('counts by model, also where a layer inside chooses another', async () => {
    const other = scriptedModel(['from the other'], { id: 'other/model' })
    const agent = agentOf(['a', 'b']).use('model', (ctx, next) => {
      if (ctx.turnIndex === 1) ctx.setModel(other)
      return next()
    })
    const session = agent.session()
    for (let turn = 0; turn < 3; turn++) await session.run('hello')
    const { 'observe:usage:models': models } = session.state
    expect(models).toEqual({
      'scripted/model': { inputTokens: 20, outputTokens: 10, calls: 2, cost: 40 },
      'other/model': { inputTokens: 10, outputTokens: 5, calls: 1, cost: undefined },
    })
  })

  it('counts the calls whose price nobody knows, and leaves them out of the cost', async () => {
    const models = [scriptedModel(['hi'], { id: 'nobody/knows' }), scriptedModel(['hi'])]
    const session = agentOf([]).session()
    for (const model of models) await session.run('hello', { model })
    expect(session.state['observe:usage:unpriced']).toBe(1)
    expect(session.state['observe:usage:cost']).toBe(20)
  })

  it("takes the provider's own figure for a call, and nothing for a model that is free by its name", async () => {
    const usageOf = (reportedCost: number) => ({ text: 'a', usage: { inputTokens: 10, outputTokens: 5, reportedCost } })
    const priced = scriptedModel([usageOf(0.25), usageOf(0.5)], { id: 'nobody/knows' })
    const free = scriptedModel(['hi'], { id: 'openrouter/new/model:free' })
    const session = new Agent({ model: priced }).use(usage()).session()
    for (const model of [priced, priced, free]) await session.run('hello', { model })
    expect(session.state['observe:usage:cost']).toBe(0.75)
    expect(session.state['observe:usage:unpriced']).toBe(0)
    expect(session.state['observe:usage:tokens'].reportedCost).toBe(0.75)
  })

  it('logs a model whose price nobody knows, once', async () => {
    const lines: string[] = []
    const logger = { warn: (line: string) => void lines.push(line), error() {} }
    const model = scriptedModel(['a', 'b'], { id: 'nobody/knows' })
    const session = new Agent({ model, logger }).use(usage()).session()
    for (let turn = 0; turn < 2; turn++) await session.run('hello')
    expect(lines).toEqual([
      '"observe:usage" has no price for the model "nobody/knows", so its cost is left out. Set its price in prices.',
    ])
  })

  it('takes a failed call for free that came to nothing, and a cut one by its estimate', async () => {
    const session = agentOf([new Error('down'), { text: 'eight ch', cut: true }]).session()
    for (let turn = 0; turn < 2; turn++) await session.run('hello').catch(() => {})
    expect(session.state).toMatchObject({
      'observe:usage:unpriced': 0,
      'observe:usage:cost': 17 + 2 * 2,
      'observe:usage:tokens': { inputTokens: 17, outputTokens: 2, calls: 2, estimated: true },
    })
  })

  it('takes a model of Ollama for free', async () => {
    const { state } = await agentOf([]).run('hello', { model: scriptedModel(['hi'], { id: 'ollama/qwen3:4b' }) })
    expect(state).toMatchObject({ 'observe:usage:cost': 0, 'observe:usage:unpriced': 0 })
  })

  it('tells cached and reasoning tokens apart', async () => {
    const tokens = {
      inputTokens: 100,
      outputTokens: 50,
      cachedInputTokens: 80,
      cacheWriteTokens: 10,
      reasoningTokens: 40,
    }
    const { state } = await agentOf([{ text: 'hi', usage: tokens }]).run('hello')
    expect(state['observe:usage:tokens']).toEqual({ ...tokens, calls: 1 })
  })

  it('counts every attempt of a retried call, wherever it is registered', async () => {
    for (const layers of [
      [usage(), retryOnce],
      [retryOnce, usage()],
    ]) {
      const model = scriptedModel([new Error('503'), 'ok'])
      const agent = new Agent({ model, orderCheck: 'off' }).use(layers)
      const { state } = await agent.run('hello')
      expect(state).toMatchObject({ 'observe:usage:tokens': { inputTokens: 10, outputTokens: 5, calls: 2 } })
    }
  })

  it('counts no answer from a cache, wherever it is registered', async () => {
    const cache: AnyMiddleware = { name: 'cache', order: { is: ['caches'] }, model: (ctx) => ctx.skipCall('cached') }
    const { state } = await new Agent({ model: scriptedModel([]) }).use(usage()).use(cache).run('hello')
    expect(state['observe:usage:tokens'].calls).toBe(0)
  })

  it('throws a failed call on as it is, and counts it', async () => {
    const error = new Error('overloaded')
    const session = agentOf([error]).session()
    await expect(session.run('hello')).rejects.toBe(error)
    expect(session.state['observe:usage:tokens'].calls).toBe(1)
  })

  it('lets the answer through where a price cannot be told', async () => {
    const prices = () => {
      throw new Error('no price')
    }
    const { text, state } = await agentOf(['hi'], { prices }).run('hello')
    expect(text).toBe('hi')
    expect(state['observe:usage:unpriced']).toBe(1)
    expect(state['observe:usage:tokens'].calls).toBe(1)
  })

  it('survives a model with a hostile name', async () => {
    const model = scriptedModel(['hi'], { id: '__proto__' })
    const { state } = await new Agent({ model }).use(usage()).run('hello')
    expect(Object.keys(state['observe:usage:models'])).toEqual(['__proto__'])
  })

  it('counts the same whether the run is streamed or awaited', async () => {
    const session = agentOf(['a b c', 'a b c']).session()
    for await (const _ of session.run('hello'));
    const streamed = session.state['observe:usage:tokens']
    const { state } = await session.run('hello')
    expect(state['observe:usage:tokens'].outputTokens).toBe(streamed.outputTokens * 2)
  })

  it('counts the calls of sub-agents with those of their parent', async () => {
    const child = new Agent({ name: 'child', model: scriptedModel(['Found.'], { id: 'other/model' }) })
    const ask: AnyTool = {
      name: 'ask',
      description: 'Asks',
      jsonSchema: {},
      execute: async (_, ctx) => (await delegate(ctx, child, 'go'))?.text,
    }
    const model = scriptedModel([{ toolCalls: [{ name: 'ask' }] }, 'Done.'])
    const { state, usage: told } = await new Agent({ model, tools: [ask] }).use(usage()).run('go')
    expect(state['observe:usage:tokens']).toEqual(told)
    expect(state['observe:usage:models']['other/model']).toMatchObject({ calls: 1 })
  })

  it('stands under another name', async () => {
    const { state } = await agentOf(['hi'], { as: 'meter' }).run('hello')
    expect(Object.keys(state)).toEqual(['meter:tokens', 'meter:cost', 'meter:unpriced', 'meter:models'])
  })
})

const callsTool: ScriptedStep = { toolCalls: [{ name: 'work' }] }

const retryOnce: AnyMiddleware = {
  name: 'retry-once',
  async model(_, next) {
    try {
      return await next()
    } catch {
      return next()
    }
  },
}

/** One input token costs 1, one output token 2. */
function agentOf<Name extends string = 'observe:usage'>(steps: ScriptedStep[], options: UsageOptions<Name> = {}) {
  const tools = [{ name: 'work', description: 'Works', jsonSchema: { type: 'object' }, execute: () => 'worked' }]
  const prices = { 'scripted/model': { input: 1e6, output: 2e6 } }
  return new Agent({ model: scriptedModel(steps), tools }).use(usage<Name>({ prices, ...options }))
}
