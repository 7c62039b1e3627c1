import { AbortError, type Middleware } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { approve, maxModelCalls, maxToolCalls } from '../src/index.ts'
import { calling, scene, told } from './scene.ts'

const loop = Array.from({ length: 9 }, () => calling(['work']))

describe('guard.maxModelCalls', () => {
  it('lets calls through up to the limit, then ends the loop with what there is', async () => {
    const { agent, model } = scene(
      [{ text: 'Working.', ...(calling(['work']) as object) }, ...loop],
      [maxModelCalls({ limit: 2 })],
      { tools: ['work'] },
    )
    const result = await agent.run('go')
    expect([result.status, result.reason]).toEqual([
      'stopped',
      '"guard:maxModelCalls": the limit of 2 model calls per turn is reached.',
    ])
    expect([model.calls, result.state]).toEqual([2, { 'guard:maxModelCalls:calls': 2 }])
  })

  it('counts each attempt of a retry outside of it', async () => {
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    const { agent, model } = scene([new Error('down'), 'up'], [maxModelCalls({ limit: 1, onLimit: 'block' }), retry])
    expect((await agent.run('go')).status).toBe('blocked')
    expect(model.calls).toBe(1)
  })

  it('counts a session where it is told to, and turns begin anew else', async () => {
    const runs = async (per: 'turn' | 'session') => {
      const { agent } = scene(['a', 'b'], [maxModelCalls({ limit: 1, per })])
      const session = agent.session()
      return [(await session.run('1')).status, (await session.run('2')).status]
    }
    expect([await runs('turn'), await runs('session')]).toEqual([
      ['completed', 'completed'],
      ['completed', 'stopped'],
    ])
  })

  it('aborts where it is told to', async () => {
    const { agent } = scene(loop, [maxModelCalls({ limit: 1, onLimit: 'abort' })], { tools: ['work'] })
    await expect(agent.run('go')).rejects.toBeInstanceOf(AbortError)
  })

  it('leaves a history that is valid, with every call answered', async () => {
    const { agent } = scene([...loop.slice(0, 2), 'fine'], [maxModelCalls({ limit: 2 })], { tools: ['work'] })
    const session = agent.session()
    await session.run('go')
    const other = agent.session()
    other.restore(session.snapshot())
    expect((await other.run('go on')).text).toBe('fine')
  })

  it.each([0, -1, Number.NaN])('refuses a limit of %d', (limit) => {
    expect(() => maxModelCalls({ limit })).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})

describe('guard.maxToolCalls', () => {
  const three = [calling(['work'], ['work'], ['work']), 'Done.']

  it('denies calls beyond the limit, and the model goes on', async () => {
    const { agent, ran } = scene(three, [maxToolCalls({ limit: 2 })], { tools: ['work'] })
    const result = await agent.run('go')
    expect([result.text, ran.length]).toEqual(['Done.', 2])
    expect(told(result)[2]).toBe('The limit of 2 calls of "work" per turn is used up. Go on without it.')
  })

  it('names a limit of one call in the singular', async () => {
    const again = calling(['work'], ['work'])
    const { agent } = scene([again], [maxModelCalls({ limit: 1 }), maxToolCalls({ limit: 1 })], { tools: ['work'] })
    const result = await agent.run('go')
    expect(told(result)[1]).toBe('The limit of 1 call of "work" per turn is used up. Go on without it.')
    expect(result.reason).toBe('"guard:maxModelCalls": the limit of 1 model call per turn is reached.')
  })

  it('counts the tools that it names alone, each layer for itself', async () => {
    const layers = [
      maxToolCalls({ limit: 1, tools: ['web_*'] }),
      maxToolCalls({ limit: 0, tools: ['mail'], as: 'mails' }),
    ]
    const steps = [calling(['web_search'], ['web_fetch'], ['mail'], ['note']), 'Done.']
    const { agent, ran } = scene(steps, layers, { tools: ['web_search', 'web_fetch', 'mail', 'note'] })
    const { state } = await agent.run('go')
    expect(ran.map(([name]) => name)).toEqual(['web_search', 'note'])
    expect(state).toMatchObject({ 'guard:maxToolCalls:calls': 1, 'mails:calls': 0 })
  })

  it('does not count what another layer answers', async () => {
    const cache: Middleware = { name: 'cache', tool: (ctx) => ctx.skipCall('cached') }
    const { agent } = scene(three, [cache, maxToolCalls({ limit: 1 })], { tools: ['work'] })
    expect((await agent.run('go')).state).toMatchObject({ 'guard:maxToolCalls:calls': 0 })
  })

  it.each([
    ['stop', 'stopped'],
    ['block', 'blocked'],
  ] as const)('%ss where it is told to', async (onLimit, status) => {
    const { agent, ran } = scene(three, [maxToolCalls({ limit: 1, onLimit })], { tools: ['work'], toolConcurrency: 1 })
    const session = agent.session()
    expect([(await session.run('go')).status, ran.length, session.pending]).toEqual([status, 1, []])
  })

  it('keeps sessions apart, and streams what it returns', async () => {
    const { agent } = scene(
      [calling(['work']), 'a', calling(['work']), 'b'],
      [maxToolCalls({ limit: 1, per: 'session' })],
      { tools: ['work'] },
    )
    const texts: string[] = []
    for (const id of ['one', 'two'])
      for await (const event of agent.session({ id }).run('go')) if (event.type === 'tool:end') texts.push(event.status)
    expect(texts).toEqual(['ok', 'ok'])
  })

  describe('beside a human who decides', () => {
    const asks = () => [maxToolCalls({ limit: 1 }), approve()]
    const decide = async (
      decision: { approve: true } | { deny: string },
      steps = [calling(['work'], ['work']), 'Done.'],
    ) => {
      const { agent, ran } = scene(steps, asks(), { tools: ['work'], toolConcurrency: 1 })
      const session = agent.session()
      const first = await session.run('go')
      const other = agent.session()
      other.restore(JSON.parse(JSON.stringify(session.snapshot())))
      const second = await other.resume(Object.fromEntries(first.pending.map(({ callId }) => [callId, decision])))
      return { first, second, ran }
    }

    it('runs the call that was approved, and asks for none beyond the limit', async () => {
      const { first, second, ran } = await decide({ approve: true })
      expect([first.pending.length, ran.length, second.text]).toEqual([1, 1, 'Done.'])
      expect(second.state).toMatchObject({ 'guard:maxToolCalls:calls': 1 })
    })

    it('does not count the one that was denied', async () => {
      const { second, ran } = await decide({ deny: 'No.' })
      expect([ran.length, second.state]).toMatchObject([0, { 'guard:maxToolCalls:calls': 0 }])
    })

    it('counts an approved call also where it was suspended outside of it, and does not refuse it', async () => {
      const wait: Middleware = {
        name: 'wait',
        innermost: true,
        tool: (ctx, next) => (ctx.approval === undefined ? ctx.suspend() : next()),
      }
      const { agent, ran } = scene(three, [wait, maxToolCalls({ limit: 1 })], { tools: ['work'] })
      const session = agent.session()
      const { pending } = await session.run('go')
      const { state } = await session.resume(
        Object.fromEntries(pending.map(({ callId }) => [callId, { approve: true as const }])),
      )
      expect([ran.length, state]).toMatchObject([3, { 'guard:maxToolCalls:calls': 3 }])
    })

    it('stands outside of what asks', async () => {
      const { agent } = scene(three, [approve({ handler: () => true }), maxToolCalls({ limit: 1 })], {
        tools: ['work'],
      })
      await expect(agent.init()).rejects.toMatchObject({ code: 'layer.order' })
    })
  })

  it.each([{ limit: -1 }, { limit: Number.NaN }, { limit: 1, tools: [] }])('refuses %j', (options) => {
    expect(() => maxToolCalls(options)).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})
