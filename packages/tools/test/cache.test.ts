import { Agent, type AnyMiddleware, type AnyTool, type Middleware, type ToolExecution, toolResult } from '@allium/core'
import type { KeyValue } from '@allium/store'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type CacheOptions, cache, emulate, retry, type ToolsCacheHit } from '../src/index.ts'

const dana = { tenantId: 'acme', userId: 'dana' }

type Execute = (args: Record<string, unknown>, ctx: ToolExecution) => unknown

/** An agent that calls `look` once a run, with the input as its argument. */
function scene(execute: Execute, options: Partial<CacheOptions> = {}, { tool = {}, more = [] }: Around = {}) {
  let ran = 0
  const look: AnyTool = {
    name: 'look',
    description: 'Looks',
    jsonSchema: {},
    execute: (args: Record<string, unknown>, ctx) => {
      ran++
      return execute(args, ctx)
    },
    ...tool,
  }
  const log: string[] = []
  const note = (message: string) => void log.push(message)
  const hits: ToolsCacheHit[] = []
  const step: ScriptedStep = (request) => {
    const last = request.messages.at(-1)
    return last?.role === 'user' ? { toolCalls: [{ name: 'look', args: { at: last.content } }] } : 'Done.'
  }
  const model = scriptedModel(Array.from({ length: 9 }, () => step))
  const agent = new Agent({ model, tools: [look], logger: { warn: note, error: note } })
    .use(more)
    .use(cache({ tools: ['look'], ...options }))
  agent.on('tools:cache', (event) => hits.push(event))
  const ask = (at = 'sky', principal: unknown = dana, context: unknown = undefined) =>
    agent.run(at, { session: { principal, context } })
  const look1 = async (...given: Parameters<typeof ask>) => (await ask(...given)).toolCalls[0]?.result
  return { agent, ask, look: look1, hits, log, ran: () => ran }
}

interface Around {
  tool?: Partial<AnyTool>
  more?: AnyMiddleware[]
}

describe('tools.cache', () => {
  it('asks to be inside of layers that change arguments, so that the key has what the tool gets', () => {
    const { agent } = scene(() => 'seen')
    agent.use({ name: 'restore', order: { is: ['mutates'] }, innermost: true, tool: (_, next) => next() })
    expect(agent.check()).toMatchObject([{ severity: 'error', layers: ['restore', 'tools:cache'] }])
  })

  it('answers the same call with the result that it got before, and tells so', async () => {
    const { look, ran, hits } = scene(() => ({ colour: 'blue' }))
    const first = await look()
    expect(await look()).toMatchObject({ content: first?.content, value: { colour: 'blue' }, status: 'skipped' })
    expect(ran()).toBe(1)
    expect(hits).toEqual([{ type: 'tools:cache', tool: 'look', callId: 'call-2' }])
  })

  it.each<[string, Parameters<ReturnType<typeof scene>['look']>]>([
    ['other arguments', ['sea']],
    ['another tenant', ['sky', { tenantId: 'other', userId: 'dana' }]],
    ['another user', ['sky', { tenantId: 'acme', userId: 'eve' }]],
    ['nobody known', ['sky', {}]],
  ])('runs the tool for %s', async (_, other) => {
    const { look, ran } = scene(() => 'blue')
    await look()
    await look(...other)
    expect(ran()).toBe(2)
  })

  it.each<[CacheOptions['per'], unknown, number]>([
    ['tenant', { tenantId: 'acme', userId: 'eve' }, 1],
    ['tenant', { userId: 'dana' }, 2],
    ['user', dana, 1],
    ['session', dana, 2],
  ])('shares results per %s with %j in another session: %i runs', async (per, other, runs) => {
    const { look, ran } = scene(() => 'blue', { per })
    await look()
    await look('sky', other)
    expect(ran()).toBe(runs)
  })

  it('shares nothing between those of whom nothing is known', async () => {
    const { look, ran } = scene(() => 'blue', { per: 'tenant' })
    await look('sky', null)
    await look('sky', null)
    expect(ran()).toBe(2)
  })

  it('runs another tool of the same name in the same store', async () => {
    const values = new Map<string, unknown>()
    const store: KeyValue = {
      get: (key) => values.get(key),
      set: (key, value) => values.set(key, value),
      delete: (key) => values.delete(key),
    }
    await scene(() => 'blue', { store }).look()
    const other = scene(() => 'red', { store }, { tool: { jsonSchema: { type: 'object', minProperties: 0 } } })
    expect((await other.look())?.content).toBe('red')
    expect([...values.keys()].every((key) => key.startsWith('tools:cache:'))).toBe(true)
  })

  it('covers what `key` adds, and asks `when` which calls are cached', async () => {
    const keyed = scene(() => 'blue', { key: ({ context }) => context })
    for (const place of ['oslo', 'rome', 'oslo']) await keyed.look('sky', dana, place)
    const some = scene(() => 'blue', { when: ({ args }) => args.at !== 'sky' })
    for (const at of ['sky', 'sky', 'sea', 'sea']) await some.look(at)
    expect([keyed.ran(), some.ran()]).toEqual([2, 3])
  })

  it('keeps results of the tools that it names alone', async () => {
    const { look, ran } = scene(() => 'blue', { tools: ['other'] })
    await look()
    await look()
    expect(ran()).toBe(2)
  })

  it.each<[string, Execute]>([
    ['a tool that throws', () => Promise.reject(new Error('down'))],
    ['a result marked as an error', () => toolResult({ content: 'Not there.', isError: true })],
    ['a run that was blocked', (_, ctx) => ctx.block('no')],
    ['a call that waits for a human', (_, ctx) => ctx.suspend()],
  ])('never keeps %s', async (_, execute) => {
    const { look, ran } = scene(execute)
    await look()
    await look()
    expect(ran()).toBe(2)
  })

  it('never keeps what a layer inside denied or answered', async () => {
    for (const answer of ['deny', 'skipCall'] as const) {
      let asked = 0
      const inside: Middleware = {
        name: 'inside',
        innermost: true,
        tool(ctx) {
          asked++
          return ctx[answer]('no')
        },
      }
      const { agent, look } = scene(() => 'blue')
      agent.use(inside)
      await look()
      await look()
      expect(asked).toBe(2)
    }
  })

  it('does not keep what an emulated tool gave', async () => {
    const { agent, look, hits } = scene(() => 'real')
    agent.use(emulate({ model: scriptedModel(['one', 'two']) }))
    expect([(await look())?.content, (await look())?.content, hits.length]).toEqual(['one', 'two', 0])
  })

  it('lets no call get round an approval', async () => {
    const { agent, ask, ran } = scene(() => 'paid', {}, { tool: { requireApproval: true } })
    const session = agent.session({ principal: dana })
    const { pending } = await session.run('sky')
    await session.resume({ [String(pending[0]?.callId)]: { approve: true } })
    expect([(await ask()).status, ran()]).toEqual(['suspended', 1])
  })

  it('stands inside what authorises, wherever other layers are registered', async () => {
    const authorizes: Middleware = {
      name: 'policy',
      order: { is: ['authorizes'] },
      innermost: true,
      tool: (_, next) => next(),
    }
    const redacts: Middleware = { name: 'pii', order: { is: ['redacts'] }, tool: (_, next) => next() }
    const check = (...layers: Middleware[]) =>
      new Agent({ model: scriptedModel([]), orderCheck: 'off' }).use(layers).check()
    const kept = cache({ tools: ['look'] })
    expect(check(authorizes, kept, redacts)).toEqual([])
    expect(check(kept, authorizes)).toMatchObject([{ severity: 'error', layers: ['policy', 'tools:cache'] }])
  })

  it('makes equal calls at the same time one', async () => {
    let answer!: (value: string) => void
    const { ask, ran, hits } = scene(() => new Promise((resolve) => (answer = resolve)))
    const both = [ask(), ask()]
    while (ran() === 0) await new Promise(setImmediate)
    answer('blue')
    const results = await Promise.all(both)
    expect(results.map(({ toolCalls }) => toolCalls[0]?.result.content)).toEqual(['blue', 'blue'])
    expect([ran(), hits.length]).toEqual([1, 1])
  })

  it('has the next one run the tool where the one under way failed', async () => {
    let first = true
    const { ask, ran } = scene(async () => {
      await new Promise(setImmediate)
      if (!first) return 'blue'
      first = false
      throw new Error('down')
    })
    const results = await Promise.all([ask(), ask()])
    expect(results.map(({ toolCalls }) => toolCalls[0]?.result.status).sort()).toEqual(['error', 'ok'])
    expect(ran()).toBe(2)
  })

  it('keeps results for its time', async () => {
    const times: unknown[] = []
    const store: KeyValue = { get: () => undefined, set: (_, __, ttl) => times.push(ttl), delete() {} }
    await scene(() => 'blue', { store, ttl: 1_000 }).look()
    expect(times).toEqual([1_000])
  })

  it('runs the tool where the store fails, and tells the log', async () => {
    const broken = () => Promise.reject(new Error('ECONNREFUSED'))
    const { look, ran, log } = scene(() => 'blue', { store: { get: broken, set: broken, delete: broken } })
    expect((await look())?.content).toBe('blue')
    expect([ran(), log.length]).toEqual([1, 2])
  })

  it('gives what cannot be copied to its caller alone', async () => {
    const { look, ran, log } = scene(() => ({ at: 1, later: () => 2 }))
    await look()
    expect((await look())?.status).toBe('ok')
    expect([ran(), log.filter((line) => line.includes('cannot cache')).length]).toEqual([2, 2])
  })

  it('gives each caller a copy: what one does to it, no other sees', async () => {
    const { look } = scene(() => ({ stars: [1] }))
    await look()
    const second = (await look())?.value as { stars: number[] }
    second.stars.push(2)
    expect((await look())?.value).toEqual({ stars: [1] })
  })

  it('is asked again by each attempt of a retry', async () => {
    const failing = Object.assign(new Error('busy'), { status: 503 })
    let down = true
    const execute = () => {
      if (!down) return 'blue'
      down = false
      throw failing
    }
    const again = retry({ tools: ['look'], delay: 0, jitter: 0 })
    const { look, ran } = scene(execute, {}, { more: [again] })
    expect([(await look())?.content, ran()]).toEqual(['blue', 2])
  })

  it.each([[{ tools: [] }], [{ tools: ['look'], ttl: 0 }]])('refuses %j', (options) => {
    expect(() => cache(options)).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})
