import { Agent as CoreAgent, type Model } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as aiSdk from '../src/ai-sdk.ts'
import * as guard from '../src/guard.ts'
import * as allium from '../src/index.ts'
import { Agent } from '../src/index.ts'
import * as model from '../src/model.ts'
import * as observe from '../src/observe.ts'
import * as pack from '../src/pack.ts'
import * as testing from '../src/testing.ts'
import * as tools from '../src/tools.ts'

const { scriptedModel } = testing

describe('the umbrella', () => {
  it('gives core, combinators and providers', () => {
    expect(Object.keys(allium)).toEqual(
      expect.arrayContaining(['Agent', 'compose', 'when', 'memoryLedger', 'fromAiSdk']),
    )
  })

  it('exports at most 40 values; stores, layers and adapters import theirs from other paths', () => {
    expect(Object.keys(allium).length).toBeLessThanOrEqual(40)
    for (const name of ['checkTurn', 'layerOptions', 'createResolver']) expect(allium).not.toHaveProperty(name)
    expect([pack.layerOptions, aiSdk.createResolver].map((value) => typeof value)).toEqual(['function', 'function'])
  })

  it('has the same packs in the main entry', () => {
    const { guard: limits, hooks: shell, memory: history, model: calls, observe: look, tools: tool } = allium
    expect([limits, shell, history, calls, look, tool].map((pack) => Object.keys(pack).length > 0)).not.toContain(false)
    expect([limits.budget, calls.retry, look.usage]).toEqual([guard.budget, model.retry, observe.usage])
  })

  it('has each pack at a path of its own', () => {
    for (const layer of [guard.budget, model.retry, observe.console, observe.onion, observe.usage, tools.function])
      expect(layer).toBeTypeOf('function')
  })

  it('has the testing kit at allium/testing', () => {
    expect(Object.keys(testing)).toEqual(expect.arrayContaining(['manualClock', 'runLayer', 'scriptedModel']))
  })

  it('has an Agent that is core’s, also after use()', () => {
    const agent = new Agent({ model: scriptedModel([]) })
    expect(agent).toBeInstanceOf(CoreAgent)
    expect(agent.use(model.retry())).toBeInstanceOf(Agent)
  })

  it('runs the first layers together', async () => {
    const script = scriptedModel([{ toolCalls: [{ name: 'greet', args: { name: 'Ada' } }] }, 'Greeted.'])
    const agent = new Agent({ name: 'demo', model: 'anthropic/claude-sonnet-4-6', instructions: 'Greet.' })
      .use(guard.budget({ limit: 1.0 }))
      .use(model.retry())
      .use(observe.usage())
      .use(tools.function(greet))
    expect(agent.check()).toEqual([])
    const result = await agent.session().run('greet Ada', { model: script })
    expect(result.text).toBe('Greeted.')
    expect(result.toolCalls[0]?.result.content).toBe('Hi Ada')
    expect(result.state['observe:usage:tokens'].calls).toBe(2)
    expect(result.state['guard:budget:spent']).toBeGreaterThan(0)
  })
})

describe('the umbrella’s Agent', () => {
  it('finds models by their name, and says what is missing', async () => {
    const run = new Agent({ model: 'nosuchprovider/model' }).run('hello')
    await expect(run).rejects.toMatchObject({ code: 'provider.not_installed' })
  })

  it('takes another resolver', async () => {
    const asked: string[] = []
    const resolveModel = (ref: string): Model => {
      asked.push(ref)
      return scriptedModel(['hi'])
    }
    expect((await new Agent({ model: 'my/model', resolveModel }).run('hello')).text).toBe('hi')
    expect(asked).toEqual(['my/model'])
  })

  it('checks arguments against a raw JSON Schema', async () => {
    const { toolCalls } = await new Agent({ model: callsAdd(), tools: [add] }).run('hello')
    expect(toolCalls).toMatchObject([
      { result: { status: 'error', content: expect.stringContaining('a: must be number') } },
    ])
  })

  it('takes another validator', async () => {
    const agent = new Agent({ model: callsAdd(), tools: [add], validate: () => [] })
    expect((await agent.run('hello')).toolCalls).toMatchObject([{ result: { status: 'ok' } }])
  })

  it('refuses the arguments of a tool whose schema cannot be compiled', async () => {
    const broken = { ...add, jsonSchema: { type: 'object', properties: { a: { type: 'nothing' } } } }
    const { toolCalls } = await new Agent({ model: callsAdd(), tools: [broken] }).run('hello')
    expect(toolCalls).toMatchObject([{ result: { status: 'error' } }])
  })
})

const greet = {
  name: 'greet',
  description: 'Greet',
  schema: z.object({ name: z.string() }),
  execute: async ({ name }: { name: string }) => `Hi ${name}`,
}

const add = {
  name: 'add',
  description: 'Adds',
  jsonSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  execute: () => 'added',
}

function callsAdd(): Model {
  return scriptedModel([{ toolCalls: [{ name: 'add', args: { a: 'one' } }] }, 'ok'])
}
