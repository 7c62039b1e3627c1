import type { Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { from, type RunConfig } from '../src/index.ts'
import { build, oneCall, settled, tool } from './kit.ts'

describe('onConfig', () => {
  it('gets the whole config: model, messages, instructions, tools, toolChoice, maxSteps, settings', async () => {
    const seen: RunConfig[] = []
    const { agent } = build(['done'], [from({ onConfig: (_, config) => void seen.push({ ...config }) })], {
      instructions: 'Be brief.',
      settings: { temperature: 0.2 },
      maxSteps: 7,
    })
    await agent.run('hi', { settings: { topP: 0.9 } })
    const [init, first] = seen
    expect(init).toMatchObject({
      model: 'scripted/model',
      instructions: 'Be brief.',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ name: 'work' }],
      toolChoice: 'auto',
      maxSteps: 7,
      settings: { temperature: 0.2, topP: 0.9 },
      temperature: 0.2,
      topP: 0.9,
    })
    expect(first).toEqual(init)
  })

  it('changes the whole run by what it gives at the start', async () => {
    const { agent, model } = build(
      oneCall,
      [from({ onConfig: (ctx) => (ctx.phase === 'init' ? { temperature: 1, instructions: 'Sing.' } : undefined) })],
      { instructions: 'Be brief.', settings: { topP: 0.9 } },
    )
    await agent.run('hi')
    expect(model.requests.map(({ settings, messages }) => [settings, messages[0]])).toEqual(
      [0, 1].map(() => [
        { temperature: 1, topP: 0.9 },
        { role: 'system', content: 'Sing.' },
      ]),
    )
    expect(model.requests.map(({ messages }) => messages.filter(({ role }) => role === 'system').length)).toEqual([
      1, 1,
    ])
  })

  it('replaces the messages that each call starts from, and leaves the history whole', async () => {
    const { agent, model } = build(oneCall, [
      from({
        onConfig: (ctx, { messages }) =>
          ctx.phase === 'init' ? { messages: [{ role: 'user', content: 'Today is Monday.' }, ...messages] } : undefined,
      }),
    ])
    const session = agent.session()
    await session.run('hi')
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([2, 4])
    expect(model.requests[1]?.messages[0]?.content).toBe('Today is Monday.')
    expect(session.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })

  it('calls another model, chooses among tools, and sets the choice', async () => {
    const other = scriptedModel(['from the other'])
    const { agent } = build([], [from({ onConfig: () => ({ model: other, tools: [], toolChoice: 'none' }) })])
    expect((await agent.run('hi')).text).toBe('from the other')
    expect(other.requests[0]).toMatchObject({ tools: [], toolChoice: 'none' })
  })

  it('bounds the steps of the run', async () => {
    const { agent } = build([...oneCall, 'never'], [from({ onConfig: () => ({ maxSteps: 1 }) })])
    expect(await agent.run('hi')).toMatchObject({ status: 'stopped', reason: 'max_steps' })
  })

  it('cannot bring back a tool that a layer outside hides, nor add one that the agent does not have', async () => {
    const hide: Middleware = {
      name: 'hide',
      model: (ctx, next) => {
        ctx.removeTools('work')
        return next()
      },
    }
    const { agent, model } = build(['done'], [hide, from({ onConfig: (_, { tools }) => ({ tools: [...tools] }) })])
    await agent.run('hi')
    expect(model.requests[0]?.tools).toEqual([])
    const { name, description, jsonSchema } = tool('new')
    const adds = from({ onConfig: () => ({ tools: [{ name, description, jsonSchema: { ...jsonSchema } }] }) })
    const { error } = await settled(build(['never'], [adds]).agent.run('hi'))
    expect(error).toMatchObject({ code: 'layer.result', message: expect.stringMatching(/"new"/) })
  })

  it('is piped: each object gets what those before it made of the config', async () => {
    const warmer = { onConfig: (_: unknown, { temperature = 0 }: RunConfig) => ({ temperature: temperature + 1 }) }
    const { agent, model } = build(['done'], [from([warmer, warmer, { onConfig: () => undefined }])])
    await agent.run('hi')
    expect(model.requests[0]?.settings.temperature).toBe(4) // twice at the start, twice before the call
  })

  it('takes a spread of the config with one change as that change alone', async () => {
    const other: Middleware = {
      name: 'other',
      model: (ctx, next) => {
        ctx.settings = { ...ctx.settings, topP: 0.5 }
        return next()
      },
    }
    const hooks = from({
      onConfig: (_, config) => ({ ...config, settings: { ...config.settings, temperature: 1 } }),
    })
    const { agent, model } = build(['done'], [other, hooks], { settings: { temperature: 0, topP: 0.1 } })
    await agent.run('hi')
    expect(model.requests[0]?.settings).toEqual({ temperature: 1, topP: 0.5 })
  })
})

describe('onBeforeModel', () => {
  it('changes one call: a retry outside it may raise the temperature at each attempt', async () => {
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    let attempts = 0
    const hooks = from({ onBeforeModel: () => ({ temperature: ++attempts / 10 }) })
    const { agent, model } = build([new Error('503'), ...oneCall], [retry, hooks])
    await agent.run('hi')
    expect(model.requests.map(({ settings }) => settings.temperature)).toEqual([0.1, 0.2, 0.3])
  })

  it('leaves the next call as it was', async () => {
    const { agent, model } = build(oneCall, [
      from({ onBeforeModel: (ctx) => (ctx.iteration === 0 ? { instructions: 'Once.', seed: 7 } : undefined) }),
    ])
    await agent.run('hi')
    expect(model.requests.map(({ settings, messages }) => [settings.seed, messages[0]?.role])).toEqual([
      [7, 'system'],
      [undefined, 'user'],
    ])
  })

  it('sees what layers outside have made of the call', async () => {
    const seen: unknown[] = []
    const outside: Middleware = {
      name: 'outside',
      model: (ctx, next) => {
        ctx.addMessage({ role: 'user', content: 'and more' })
        return next()
      },
    }
    const hooks = from({
      onBeforeModel: (_, { messages, instructions }) => void seen.push(messages.length, instructions),
    })
    await build(['done'], [outside, hooks], { instructions: () => 'Be brief.' }).agent.run('hi')
    expect(seen).toEqual([2, 'Be brief.'])
  })
})

describe('a config', () => {
  it('is to be read: a hook that writes into it fails the run, and the conversation stays as it was', async () => {
    const writes = [
      (config: RunConfig) => Object.assign(config.messages[0] as object, { content: 'changed' }),
      (config: RunConfig) => (config.messages as unknown[]).push({ role: 'user', content: 'more' }),
      (config: RunConfig) => (config.tools as unknown[]).pop(),
      (config: RunConfig) => Object.assign(config, { temperature: 1 }),
      (config: RunConfig) => Object.assign(config.settings, { temperature: 1 }),
    ]
    for (const write of writes) {
      const { agent, model } = build(
        ['done', 'done'],
        [from({ onConfig: (ctx, config) => void (ctx.turnIndex === 1 && write(config)) })],
      )
      const session = agent.session()
      await session.run('hi')
      expect((await settled(session.run('again'))).error).toBeInstanceOf(TypeError)
      expect([model.calls, session.history[0]]).toEqual([1, { role: 'user', content: 'hi' }])
    }
  })
})

describe('what a config hook gives', () => {
  it.each<[string, unknown, RegExp]>([
    ['messages that are null', { messages: null }, /"messages".*null/],
    ['messages that are texts', { messages: ['hi'] }, /"messages".*\{ role, content \}/],
    ['a message without content', { messages: [{ role: 'user' }] }, /"messages"/],
    ['tools that are null', { tools: null }, /"tools".*null/],
    ['a number of instructions', { instructions: 5 }, /"instructions".*5/],
    ['settings that are none', { settings: 5 }, /"settings".*5/],
    ['a choice that no model knows', { toolChoice: 'foo' }, /"toolChoice".*"foo"/],
    ['no number of steps', { maxSteps: 'many' }, /"maxSteps".*"many"/],
    ['a key that nobody reads', { temprature: 1 }, /"temprature".*temperature/],
    ['a text', 'brief', /"brief"/],
  ])('fails the run by name where it is %s', async (_, patch, message) => {
    for (const hook of ['onConfig', 'onBeforeModel']) {
      const { agent, model } = build(['done'], [from({ getName: () => 'mine', [hook]: () => patch })])
      const { error } = await settled(agent.run('hi'))
      expect(error).toMatchObject({ code: 'layer.result', message: expect.stringMatching(message) })
      expect([(error as Error).message.includes(`${hook} of "mine"`), model.calls]).toEqual([true, 0])
    }
  })

  it('may repeat the whole config, and leave fields undefined', async () => {
    const none = {
      messages: undefined,
      tools: undefined,
      model: undefined,
      maxSteps: undefined,
      temperature: undefined,
    }
    const hooks = from([{ onConfig: (_, config) => ({ ...config, topP: 1 }) }, { onBeforeModel: () => none as never }])
    const { agent, model } = build(['done'], [hooks])
    await agent.run('hi')
    expect(model.requests[0]).toMatchObject({ settings: { topP: 1 }, messages: [{ content: 'hi' }] })
  })
})
