import { delay, type Middleware, type TurnView } from '@allium/core'
import { manualClock } from '@allium/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type RateLimitEvent, type RateStore, rateLimit } from '../src/index.ts'
import { calling, scene } from './scene.ts'

const answers = Array.from({ length: 200 }, () => 'Hello.')
const ask: Middleware = {
  name: 'ask',
  tool: (ctx, next) => (ctx.approval === undefined ? ctx.suspend() : next()),
}
const acme = { principal: { tenantId: 'acme', userId: 'ada' } }

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }))
afterEach(() => void vi.useRealTimers())

describe('guard.rateLimit', () => {
  it('lets turns through up to the limit, and tells when to come back', async () => {
    const { agent, model } = scene(answers, [rateLimit({ limit: 2 })])
    const session = agent.session()
    await session.run('1')
    expect((await session.run('2')).state['guard:rateLimit:retryAfter' as never]).toBe(0)
    vi.setSystemTime(48_500)
    const { status, reason, state } = await session.run('3')
    expect([status, reason]).toEqual([
      'blocked',
      'The rate limit "guard:rateLimit" of 2 turns in a minute per session is reached: try again in 12 s.',
    ])
    expect([state['guard:rateLimit:retryAfter' as never], model.calls]).toEqual([12, 2])
    vi.setSystemTime(60_000)
    expect((await session.run('4')).status).toBe('completed')
  })

  it.each([
    ['tenant', { tenantId: 'acme', userId: 'bob' }, 'blocked'],
    ['tenant', { tenantId: 'globex', userId: 'ada' }, 'completed'],
    ['user', { tenantId: 'acme', userId: 'ada' }, 'blocked'],
    ['user', { tenantId: 'acme', userId: 'bob' }, 'completed'],
    ['user', { tenantId: 'globex', userId: 'ada' }, 'completed'],
    ['session', { tenantId: 'acme', userId: 'ada' }, 'completed'],
    ['ip', { tenantId: 'acme', ip: '10.0.0.1' }, 'blocked'],
    ['ip', { tenantId: 'globex', ip: '10.0.0.1' }, 'completed'],
  ] as const)('counts per %s: then %j is %s', async (per, principal, status) => {
    const { agent } = scene(answers, [rateLimit({ limit: 1, per })])
    await agent.run('1', { session: { principal: { tenantId: 'acme', userId: 'ada', ip: '10.0.0.1' } } })
    expect((await agent.run('2', { session: { principal } })).status).toBe(status)
  })

  it('gives each tenant the limit of its plan', async () => {
    const limit = async ({ principal }: TurnView) => ((principal as { plan: string }).plan === 'team' ? 2 : 0)
    const { agent, model } = scene(answers, [rateLimit({ limit, per: 'tenant' })])
    const status = async (plan: string) =>
      (await agent.run('hi', { session: { principal: { tenantId: plan, plan } } })).reason ?? 'completed'
    expect([await status('team'), await status('team')]).toEqual(['completed', 'completed'])
    expect([await status('team'), await status('free')]).toEqual([
      expect.stringContaining('of 2 turns'),
      expect.stringContaining('of 0 turns'),
    ])
    expect(model.calls).toBe(2)
  })

  it('fails a turn whose plan has no number, and blocks one whose plan cannot be asked', async () => {
    const { agent } = scene(answers, [rateLimit({ limit: () => Number.NaN })])
    await expect(agent.run('hi')).rejects.toMatchObject({ code: 'layer.config' })
    const broken = scene(answers, [rateLimit({ limit: () => Promise.reject(new Error('down')) })])
    expect((await broken.agent.run('hi')).code).toBe('guard.failed')
  })

  it.each(['user', 'tenant'] as const)('says that per can be a function where the %s is missing', async (per) => {
    const { agent } = scene(answers, [rateLimit({ limit: 1, per })])
    await expect(agent.run('hi')).rejects.toThrow(/ or pass a function as per/)
  })

  it('counts for each name that a function returns', async () => {
    const perModel = rateLimit({ limit: 1, per: ({ plan }) => String(plan.settings.seed) })
    const { agent } = scene(answers, [perModel])
    const run = async (seed: number) => (await agent.run('hi', { settings: { seed } })).status
    expect([await run(1), await run(1), await run(2)]).toEqual(['completed', 'blocked', 'completed'])
  })

  it('takes no place for a call that was left by a throw while it waited', async () => {
    const clock = manualClock()
    const consumed: string[] = []
    const store = (): RateStore => ({
      consume: (key) => (consumed.push(key) === 1 ? Promise.reject({ msBeforeNext: 50 }) : Promise.resolve()),
      reward: async () => void consumed.pop(),
    })
    const goesOn: Middleware = {
      name: 'goes-on',
      model: (_, next) => next().catch(() => delay(100, clock, new AbortController().signal).then(() => 'Sorry.')),
    }
    const gone: Middleware = {
      name: 'gone',
      model: (_, next) => {
        next().catch(() => {})
        throw new Error('gone')
      },
    }
    const limit = rateLimit({ limit: 1, scope: 'model', onLimit: 'wait', store })
    const { agent } = scene(answers, [goesOn, gone, limit], { clock })
    const run = agent.run('hi')
    await clock.advance(150)
    expect((await run).text).toBe('Sorry.')
    expect(consumed).toHaveLength(1) // the one that was refused
  })

  it('reads the address from the context too, and fails where nobody is named', async () => {
    const { agent } = scene(answers, [rateLimit({ limit: 1, per: 'ip' })])
    const runs = (ip: string) => agent.run('hi', { session: { context: { ip } } })
    expect([(await runs('a')).status, (await runs('b')).status, (await runs('a')).status]).toEqual([
      'completed',
      'completed',
      'blocked',
    ])
    await expect(agent.run('hi')).rejects.toMatchObject({ code: 'session.principal' })
  })

  it('keeps all of several rates, and a turn that one refuses does not count in the others', async () => {
    const { agent } = scene(answers, [rateLimit({ limit: 3, window: 'hour', rates: [{ limit: 1, window: 'second' }] })])
    const session = agent.session()
    const statuses = []
    for (const at of [0, 1, 2, 1_000, 2_000, 3_000]) {
      vi.setSystemTime(at)
      statuses.push((await session.run('hi')).status)
    }
    expect(statuses).toEqual(['completed', 'blocked', 'blocked', 'completed', 'completed', 'blocked'])
  })

  it('admits as many as have room when turns race', async () => {
    const { agent, model } = scene(answers, [rateLimit({ limit: 10, per: 'tenant', rates: [{ limit: 50 }] })])
    const runs = Array.from({ length: 100 }, () => agent.run('hi', { session: acme }))
    const statuses = (await Promise.all(runs)).map(({ status }) => status)
    expect([statuses.filter((status) => status === 'completed').length, model.calls]).toEqual([10, 10])
  })

  it('waits for room where it is told to, and no longer than maxWait', async () => {
    const clock = manualClock()
    const { agent } = scene(answers, [rateLimit({ limit: 1, onLimit: 'wait', maxWait: 90_000 })], { clock })
    const events: RateLimitEvent[] = []
    agent.on('guard:rateLimit', (event) => events.push(event))
    const session = agent.session()
    await session.run('1')
    const second = session.run('2')
    await clock.advance(59_999)
    vi.setSystemTime(60_000)
    await clock.advance(1)
    expect((await second).status).toBe('completed')
    expect(events.map(({ retryAfter, waits }) => [retryAfter, waits])).toEqual([[60_000, true]])
    expect((await scene(answers, [rateLimit({ limit: 1, onLimit: 'wait', maxWait: 5 })]).agent.run('1')).status).toBe(
      'completed',
    )
    const short = scene(answers, [rateLimit({ limit: 1, onLimit: 'wait', maxWait: 5 })]).agent.session()
    await short.run('1')
    expect((await short.run('2')).status).toBe('blocked')
  })

  it('leaves the wait when the run is aborted', async () => {
    const clock = manualClock()
    const { agent } = scene(answers, [rateLimit({ limit: 1, onLimit: 'wait' })], { clock })
    const session = agent.session()
    await session.run('1')
    const run = session.run('2')
    await clock.advance(10)
    run.abort('gone')
    await expect(run).rejects.toMatchObject({ name: 'AbortError' })
    expect(clock.pending).toBe(0)
  })

  it('lets a function answer, and blocks where it gives nothing', async () => {
    const answer = rateLimit({ limit: 1, onLimit: (_, { retryAfter }) => `Wait ${retryAfter / 1000} s.` })
    const session = scene(answers, [answer]).agent.session()
    await session.run('1')
    const run = session.run('2')
    let shown = ''
    for await (const delta of run.textStream) shown += delta
    expect([shown, (await run).status]).toEqual(['Wait 60 s.', 'completed'])
    const silent = scene(answers, [rateLimit({ limit: 1, onLimit: () => {} })]).agent.session()
    await silent.run('1')
    expect((await silent.run('2')).status).toBe('blocked')
  })

  it('counts model calls where it is told to', async () => {
    const steps = [calling(['work']), calling(['work']), 'Done.']
    const { agent, model } = scene(steps, [rateLimit({ limit: 2, scope: 'model' })], { tools: ['work'] })
    const { status, reason } = await agent.run('go')
    expect([status, model.calls, reason]).toEqual(['blocked', 2, expect.stringContaining('2 model calls in a minute')])
  })

  it('does not count a turn again that is resumed', async () => {
    const { agent } = scene([calling(['pay']), 'Paid.'], [rateLimit({ limit: 1 }), ask], { tools: ['pay'] })
    const session = agent.session()
    const { pending } = await session.run('go')
    expect((await session.resume({ [pending[0]?.callId as string]: { approve: true } })).text).toBe('Paid.')
  })

  it.each([
    ['throws', () => Promise.reject(new Error('secret: redis is down'))],
    ['gives nonsense', () => Promise.reject({ code: 1 })],
    ['hangs', () => new Promise(() => {})],
  ] as const)('blocks where its store %s, and lets through where it is told to', async (_, consume) => {
    const store = (): RateStore => ({ consume, reward: async () => {} })
    const runs = async (onError: 'block' | 'allow') => {
      const clock = manualClock()
      const { agent, log } = scene(answers, [rateLimit({ limit: 1, store, onError, timeout: 100 })], { clock })
      const run = agent.run('hi')
      await clock.advance(100)
      return [(await run).status, (await run).reason?.includes('secret') ?? false, log.length, clock.pending]
    }
    expect([await runs('block'), await runs('allow')]).toEqual([
      ['blocked', false, 1, 0],
      ['completed', false, 1, 0],
    ])
  })

  it('gives a store its own prefix, points and seconds, and keys that keep tenants and layers apart', async () => {
    const keys: string[] = []
    const made: unknown[] = []
    const store = (options: object): RateStore => {
      made.push(options)
      return { consume: async (key) => keys.push(key), reward: async () => {} }
    }
    const { agent } = scene(answers, [rateLimit({ limit: 5, window: 1500, per: 'user', store, as: 'mine' })])
    await agent.run('hi', { session: { principal: { tenantId: 'a","b', userId: 'c' } } })
    await agent.run('hi', { session: { principal: { tenantId: 'a', userId: 'b","c' } } })
    expect(made).toEqual([{ keyPrefix: 'mine', points: 5, duration: 1.5 }])
    expect(new Set(keys).size).toBe(2)
  })

  it.each([[{}], [{ limit: 0 }], [{ limit: Number.NaN }], [{ limit: 1, window: 0 }], [{ limit: 1, timeout: 0 }]])(
    'refuses %j',
    (options) => {
      expect(() => rateLimit(options)).toThrow(expect.objectContaining({ code: 'layer.config' }))
    },
  )
})
