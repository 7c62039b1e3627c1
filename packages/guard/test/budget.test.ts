import {
  AbortError,
  Agent,
  type AgentOptions,
  type AnyMiddleware,
  type ModelContext,
  type TypedMiddleware,
} from '@allium/core'
import { type Ledger, memoryLedger } from '@allium/store'
import { manualClock, type ScriptedModel, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type BudgetExceeded, type BudgetOptions, budget } from '../src/index.ts'

describe('guard.budget', () => {
  it('lets a call through that has room, and charges what it really used', async () => {
    const { agent } = scene([{ text: 'hi', usage: { inputTokens: 70, outputTokens: 30 } }], { limit: 10_000 })
    const result = await agent.run('hello')
    expect(result.text).toBe('hi')
    expect(result.state['guard:budget:spent']).toBe(100)
  })

  it('gives each tenant the room of its plan', async () => {
    const limitOf = ({ principal }: ModelContext) => ((principal as { plan: string }).plan === 'team' ? 100 : 5)
    const { agent } = scene(['hi', 'hi'], { limit: async (ctx) => limitOf(ctx), estimate: cheap })
    const free = await agent.run('hello', { session: { principal: { plan: 'free' } } })
    const team = await agent.run('hello', { session: { principal: { plan: 'team' } } })
    expect([free.status, team.status]).toEqual(['blocked', 'completed'])
    expect(free.reason).toContain('The budget "guard:budget" of 5 tokens')
  })

  it('fails a call whose plan has no number, and asks no model', async () => {
    for (const limit of [Number.NaN, null as never, '5' as never]) {
      const { agent, model } = scene(['never'], { limit: () => limit })
      await expect(agent.run('hello')).rejects.toMatchObject({ code: 'layer.config' })
      expect(model.calls).toBe(0)
    }
  })

  it('lets an ordinary first call of a known model through with nothing but a limit', async () => {
    const model = scriptedModel(['hi'], { id: 'anthropic/claude-sonnet-4-6' })
    const result = await new Agent({ model }).use(budget({ limit: 1.0 })).run('hello')
    expect(result.state['guard:budget:spent']).toBeCloseTo((10 * 3 + 5 * 15) / 1e6, 12)
  })

  it('lets an ordinary first call of an unknown model through, at the fallback price', async () => {
    const model = scriptedModel(['hi'], { id: 'nobody/knows' })
    const agent = new Agent({ model }).use(budget({ limit: 1.0, fallbackPrice: { input: 100, output: 200 } }))
    expect((await agent.run('hello')).state['guard:budget:spent']).toBeCloseTo((10 * 100 + 5 * 200) / 1e6, 12)
  })

  it('logs a model whose price nobody knows, once, and what it is charged', async () => {
    const lines: string[] = []
    const logger = { warn: (line: string) => void lines.push(line), error() {} }
    const model = scriptedModel(['hi', 'hi'], { id: 'nobody/knows' })
    const session = new Agent({ model, logger }).use(budget({ limit: 1.0 })).session()
    for (let turn = 0; turn < 2; turn++) await session.run('hello')
    expect(lines).toEqual([
      '"guard:budget" has no price for the model "nobody/knows", so its calls are charged $3 and $15 for a million tokens (fallbackPrice). Set its price in prices.',
    ])
  })

  it('takes nothing for a call of a local Ollama, unless its price is given', async () => {
    const spent = async (prices?: BudgetOptions['prices']) => {
      const model = scriptedModel(['hi'], { id: 'ollama/qwen3:4b' })
      const { state } = await new Agent({ model }).use(budget({ limit: 10_000, prices })).run('hello')
      return state['guard:budget:spent']
    }
    expect(await spent()).toBe(0)
    expect(await spent({ 'ollama/*': { input: 1e6, output: 1e6 } })).toBe(15)
  })

  it('blocks a call that has no room, before the model is asked', async () => {
    const { agent, model } = scene(['never'], { limit: 100, estimate: () => ({ inputTokens: 100, outputTokens: 1 }) })
    const result = await agent.run('hello')
    expect(result).toMatchObject({ status: 'blocked', text: '' })
    expect(result.reason).toBe(
      'The budget "guard:budget" of 100 tokens per session has no room for this call: it may take 101 tokens. Nothing is spent yet: raise the limit, or set maxOutputTokens.',
    )
    expect(model.calls).toBe(0)
  })

  it('says that it is used up only where nothing is left', async () => {
    const { agent } = scene([callsTool, 'never'], { limit: 15, estimate: cheap })
    const { reason } = await agent.use({ name: 'tools', tools: [work] }).run('hello')
    expect(reason).toContain('is used up: 15 tokens spent')
  })

  it('admits a call that fills its room to the brim', async () => {
    const { agent } = scene(['hi'], { limit: 100, estimate: () => ({ inputTokens: 50, outputTokens: 50 }) })
    expect((await agent.run('hello')).status).toBe('completed')
  })

  it('stops the turn, keeping what there is, where it is told to', async () => {
    const { agent, model } = scene([callsTool, 'never'], { limit: 20, estimate: cheap, onLimit: 'stop' })
    const result = await agent.use({ name: 'tools', tools: [work] }).run('hello')
    expect(result).toMatchObject({
      status: 'stopped',
      reason: expect.stringContaining('too little left: 15 tokens spent'),
    })
    expect(result.toolCalls).toMatchObject([{ name: 'work', result: { status: 'ok' } }])
    expect(model.calls).toBe(1)
  })

  it('aborts the turn where it is told to', async () => {
    const { agent } = scene([], { limit: 0, estimate: cheap, onLimit: 'abort' })
    expect(await failureOf(agent.run('hello'))).toBeInstanceOf(AbortError)
  })

  it('lets a function answer in place of the call', async () => {
    const told: BudgetExceeded[] = []
    const onLimit = (_: ModelContext, exceeded: BudgetExceeded) => {
      told.push(exceeded)
      return 'Your budget is used up.'
    }
    const { agent } = scene([], { limit: 5, estimate: cheap, onLimit })
    expect(await agent.run('hello')).toMatchObject({ status: 'completed', text: 'Your budget is used up.' })
    expect(told).toMatchObject([{ unit: 'tokens', limit: 5, spent: 0, reserved: 0, needed: 10 }])
  })

  it('blocks where the function gives nothing', async () => {
    const { agent } = scene([], { limit: 5, estimate: cheap, onLimit: () => undefined })
    expect((await agent.run('hello')).status).toBe('blocked')
  })

  it('holds the estimate while the call runs', async () => {
    const ledger = memoryLedger()
    const held: unknown[] = []
    const look = () => {
      held.push(ledger.balance(account))
      return 'hi'
    }
    const { agent } = scene([look], { limit: 10_000, ledger, estimate: cheap })
    await agent.session({ id: 's' }).run('hello')
    expect(held).toEqual([{ spent: 0, reserved: 10 }])
    expect(ledger.balance(account)).toEqual({ spent: 15, reserved: 0 })
  })

  it('estimates from what is sent, its tools included, and from maxOutputTokens', async () => {
    const text = 'x'.repeat(4000)
    const needed = async (options: Partial<AgentOptions>, input: string) => {
      let told = 0
      const onLimit = (_: ModelContext, exceeded: BudgetExceeded) => {
        told = exceeded.needed
      }
      await new Agent({ model: scriptedModel([]), ...options })
        .use(budget({ limit: 0, unit: 'tokens', onLimit }))
        .run(input)
      return told
    }
    const settings = { maxOutputTokens: 1 }
    expect(await needed({ settings }, text)).toBe(1005)
    expect(await needed({ settings: { maxOutputTokens: 500 } }, text)).toBe(1504)
    expect(await needed({}, text)).toBe(1004 + 1024)
    expect(await needed({ settings, instructions: text }, text)).toBe(2009)
    expect(await needed({ settings, tools: [work] }, text)).toBeGreaterThan(1005)
  })

  it('charges every attempt of a retried call, wherever it is registered', async () => {
    const meter = budget({ limit: 10_000, unit: 'tokens' })
    for (const layers of [
      [meter, retryOnce],
      [retryOnce, meter],
    ]) {
      const model = scriptedModel([{ text: 'eight ch', error: new Error('cut') }, 'ok'])
      const agent = new Agent({ model, orderCheck: 'off' }).use(layers)
      const { state } = await agent.run('x'.repeat(40))
      // 14 estimated input tokens and 2 streamed ones, then 10 and 5 as the provider told.
      expect(state).toMatchObject({ 'guard:budget:spent': 16 + 15 })
    }
  })

  it('charges nothing for a call that failed before its first chunk', async () => {
    const ledger = memoryLedger()
    const { agent } = scene([new Error('429')], { limit: 10_000, ledger })
    await failureOf(agent.session({ id: 's' }).run('hello'))
    expect(ledger.balance(account)).toEqual({ spent: 0, reserved: 0 })
  })

  it('charges what was streamed when the run is aborted', async () => {
    const ledger = memoryLedger()
    const { agent } = scene([{ text: 'eight ch', stall: true }], { limit: 10_000, ledger, estimate: cheap })
    const run = agent.session({ id: 's' }).run('hello')
    for await (const event of run) {
      if (event.type !== 'text-delta' || event.delta !== ' ch') continue
      run.abort()
      break
    }
    await failureOf(run)
    expect(ledger.balance(account)).toEqual({ spent: 6 + 2, reserved: 0 })
  })

  it('charges what was streamed when a layer outside gives up waiting', async () => {
    const ledger = memoryLedger()
    const impatient: AnyMiddleware = {
      name: 'impatient',
      async model(ctx, next) {
        const patience = new AbortController()
        ctx.onChunk(() => patience.abort(new DOMException('too slow', 'TimeoutError')))
        return next({ signal: patience.signal }).catch(() => 'gave up')
      },
    }
    const { agent } = scene([{ text: 'eightchr', stall: true }], { limit: 10_000, ledger, estimate: cheap })
    const result = await agent.use(impatient).session({ id: 's' }).run('hello')
    expect(result.text).toBe('gave up')
    expect(ledger.balance(account)).toEqual({ spent: 6 + 2, reserved: 0 })
  })

  it('gives back what it held when the run ends while the ledger answers', async () => {
    const ledger = memoryLedger()
    const controller = new AbortController()
    const late: Ledger = {
      ...ledger,
      async reserve(request) {
        const reservation = ledger.reserve(request)
        controller.abort()
        await Promise.resolve()
        return reservation
      },
    }
    const { agent, model } = scene(['never'], { limit: 10_000, ledger: late, estimate: cheap })
    await failureOf(agent.session({ id: 's' }).run('hello', { signal: controller.signal }))
    expect(ledger.balance(account)).toEqual({ spent: 0, reserved: 0 })
    expect(model.calls).toBe(0)
  })

  it('charges nothing for an answer from a cache, wherever it is registered', async () => {
    const cache: AnyMiddleware = { name: 'cache', order: { is: ['caches'] }, model: (ctx) => ctx.skipCall('cached') }
    const agent = new Agent({ model: scriptedModel([]) }).use(budget({ limit: 0 })).use(cache)
    const result = await agent.run('hello')
    expect(result).toMatchObject({ text: 'cached', state: { 'guard:budget:spent': 0 } })
  })

  it.each([
    ['missing', {}],
    ['zero', { inputTokens: 0, outputTokens: 0 }],
    ['negative', { inputTokens: -5, outputTokens: -5 }],
    ['not a number', { inputTokens: Number.NaN, outputTokens: Number.NaN }],
    ['a text', { inputTokens: '10', outputTokens: '5' } as never],
  ])('estimates usage that is %s', async (_, usage) => {
    const { agent } = scene([{ text: 'eight ch', usage }], { limit: 10_000 })
    const result = await agent.run('x'.repeat(40))
    expect(result.state['guard:budget:spent']).toBe(14 + 2)
  })

  it('admits no more than the room among turns that race for it', async () => {
    const entered = barrier(10)
    const answer = async () => {
      await entered()
      return { text: 'ok', usage: { inputTokens: 5, outputTokens: 5 } }
    }
    const { agent, model } = scene(new Array(100).fill(answer), {
      limit: 100,
      per: 'tenant',
      ledger: slow(memoryLedger()),
      estimate: cheap,
    })
    const results = await Promise.all(
      Array.from({ length: 100 }, () => agent.session({ principal: { tenantId: 'acme' } }).run('hello')),
    )
    expect(results.filter(({ status }) => status === 'completed')).toHaveLength(10)
    expect(results.filter(({ status }) => status === 'blocked')).toHaveLength(90)
    expect(model.calls).toBe(10)
  })

  it('passes its room by one estimate at the most, where each call takes more than was held', async () => {
    const ledger = memoryLedger()
    const dear = { text: 'ok', usage: { inputTokens: 10, outputTokens: 9 } }
    const { agent } = scene(new Array(100).fill(dear), { limit: 100, per: 'tenant', ledger, estimate: cheap })
    const session = agent.session({ principal: { tenantId: 'acme' } })
    for (let turn = 0; turn < 100; turn++) await session.run('hello')
    expect((await ledger.balance('["guard:budget","acme"]')).spent).toBeLessThanOrEqual(100 + 9)
  })

  it('keeps tenants apart, also where their sessions have the same id', async () => {
    for (const per of ['turn', 'session', 'user', 'tenant'] as const) {
      const { agent } = scene(['a', 'b'], { limit: 15, per, estimate: cheap })
      for (const tenantId of ['acme', 'globex']) {
        const session = agent.session({ id: 'same', principal: { tenantId, userId: 'ada' } })
        expect((await session.run('hello')).status).toBe('completed')
      }
    }
  })

  it('counts per turn, session, user and tenant', async () => {
    // Two turns of Ada's first session, one of her second, one of Bob's, one of another tenant.
    const admitted = async (per: BudgetOptions['per']) => {
      const { agent } = scene(new Array(5).fill('ok'), { limit: 15, per, estimate: cheap })
      const ada = { tenantId: 'acme', userId: 'ada' }
      const first = agent.session({ principal: ada })
      const statuses: string[] = []
      for (const session of [
        first,
        first,
        agent.session({ principal: ada }),
        agent.session({ principal: { tenantId: 'acme', userId: 'bob' } }),
        agent.session({ principal: { tenantId: 'globex', userId: 'ada' } }),
      ])
        statuses.push((await session.run('hello')).status === 'completed' ? 'y' : 'n')
      return statuses.join('')
    }
    expect(await admitted('turn')).toBe('yyyyy')
    expect(await admitted('session')).toBe('ynyyy')
    expect(await admitted('user')).toBe('ynnyy')
    expect(await admitted('tenant')).toBe('ynnny')
  })

  it('does not take an id for another place', async () => {
    const { agent } = scene(['a', 'b'], { limit: 15, estimate: cheap })
    await agent.session({ id: 'b', principal: { tenantId: 'a' } }).run('hello')
    const result = await agent.session({ id: '","b', principal: { tenantId: 'a"' } }).run('hello')
    expect(result.status).toBe('completed')
  })

  it.each(['user', 'tenant'] as const)('fails a turn whose %s nobody told', async (per) => {
    const { agent, model } = scene(['never'], { limit: 100, per })
    expect(await failureOf(agent.run('hello'))).toMatchObject({
      code: 'session.principal',
      message: expect.stringContaining(`${per}Id`),
    })
    expect(model.calls).toBe(0)
  })

  it('charges the account that a function names', async () => {
    const ledger = memoryLedger()
    const { agent } = scene(['hi'], { limit: 10_000, ledger, per: ({ agent }) => `team:${agent.name}` })
    await agent.run('hello')
    expect((await ledger.balance('team:agent')).spent).toBe(15)
  })

  it.each([
    ['hour', 3_600_000],
    ['day', 86_400_000],
    ['month', 31 * 86_400_000],
    [1_000, 1_000],
  ] as const)('begins again with the next window of %s', async (window, ms) => {
    const clock = manualClock(Date.UTC(2026, 0, 1))
    const { agent } = scene(new Array(2).fill('ok'), { limit: 15, window, estimate: cheap }, clock)
    const session = agent.session()
    const status = async () => (await session.run('hello')).status
    expect(await status()).toBe('completed')
    await clock.advance(ms - 1)
    expect(await status()).toBe('blocked')
    await clock.advance(1)
    expect(await status()).toBe('completed')
  })

  it('names the window by its begin, so that processes agree', async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1, 23, 59))
    const accounts: string[] = []
    const ledger = recording(memoryLedger(), accounts)
    const { agent } = scene(['ok'], { limit: 10_000, window: 'day', ledger }, clock)
    await agent.session({ id: 's' }).run('hello')
    expect(accounts).toEqual(['["guard:budget","","","s","2026-01-01"]'])
  })

  it.each([
    ['hour', Date.UTC(2026, 11, 31, 23, 59), 60_000],
    ['day', Date.UTC(2026, 11, 31, 23, 59), 60_000],
    ['month', Date.UTC(2026, 10, 30), 86_400_000],
    [7_000, 6_000, 1_000],
  ] as const)('tells the ledger when the account of a window ends: %s', async (window, at, endsIn) => {
    const ends: unknown[] = []
    const inner = memoryLedger()
    const reserve: Ledger['reserve'] = (request) => {
      ends.push(request.endsIn)
      return inner.reserve(request)
    }
    const { agent } = scene(['ok'], { limit: 10_000, window, ledger: { ...inner, reserve } }, manualClock(at))
    await agent.run('hello')
    expect(ends).toEqual([endsIn])
  })

  it('closes the account of a turn when it is over, and no other', async () => {
    const closed: string[] = []
    const ledger: Ledger = { ...memoryLedger(), close: (account) => void closed.push(account) }
    for (const per of ['turn', 'session'] as const) {
      const { agent } = scene(['ok'], { limit: 10_000, per, ledger })
      await agent.session({ id: 's' }).run('hello')
    }
    expect(closed).toEqual([expect.stringMatching(/^\["guard:budget","","","s",".+"\]$/)])
  })

  it('posts under ids that are unique for each physical call', async () => {
    const ids: string[] = []
    const ledger = recording(memoryLedger(), [], ids)
    const { agent } = scene([new Error('503'), callsTool, 'ok', 'ok'], { limit: 10_000, ledger })
    const session = agent
      .use({ name: 'tools', tools: [work] })
      .use(retryOnce)
      .session()
    await session.run('hello')
    await session.run('hello')
    expect(new Set(ids).size).toBe(4)
  })

  it('fails the turn, and asks no model, where the ledger does not answer', async () => {
    const broken: Ledger = {
      ...memoryLedger(),
      reserve: () => Promise.reject(new Error('ledger down')),
    }
    const { agent, model } = scene(['never'], { limit: 10_000, ledger: broken })
    expect(await failureOf(agent.run('hello'))).toMatchObject({ message: 'ledger down' })
    expect(model.calls).toBe(0)
  })

  it('does not hide the model’s error behind one of the ledger', async () => {
    const first = new Error('overloaded')
    const broken: Ledger = { ...memoryLedger(), settle: () => Promise.reject(new Error('ledger down')) }
    const { agent } = scene([first], { limit: 10_000, ledger: broken })
    expect(await failureOf(agent.run('hello'))).toBe(first)
  })

  it('keeps a session’s sum over its turns, and a turn’s within it', async () => {
    const spent = async (per: 'session' | 'turn') => {
      const session = scene(['a', 'b'], { limit: 10_000, per }).agent.session()
      await session.run('hello')
      return (await session.run('hello')).state['guard:budget:spent']
    }
    expect(await spent('session')).toBe(30)
    expect(await spent('turn')).toBe(15)
  })

  it('stands twice in an agent, each with its own name, state and room', async () => {
    const agent = new Agent({ model: scriptedModel(['a', 'never']) })
      .use(budget({ limit: 10_000, unit: 'tokens', estimate: cheap }))
      .use(budget({ limit: 20, unit: 'tokens', estimate: cheap, as: 'tenant', per: 'tenant' }))
    const session = agent.session({ principal: { tenantId: 'acme' } })
    const first = await session.run('hello')
    expect([first.state['guard:budget:spent'], first.state['tenant:spent']]).toEqual([15, 15])
    const second = await session.run('hello')
    expect(second).toMatchObject({ status: 'blocked', reason: expect.stringContaining('"tenant"') })
    expect([second.state['guard:budget:spent'], second.state['tenant:spent']]).toEqual([15, 15])
  })

  it('tells once that the limit comes near, and each time that a call is refused', async () => {
    const { agent } = scene(['a', 'b', 'c'], { limit: 50, warnAt: 0.6, estimate: cheap, per: 'tenant' })
    const told: unknown[] = []
    agent.on('guard:budget', ({ account, limit, spent, refused }) => told.push([account, limit, spent, refused]))
    const session = agent.session({ principal: { tenantId: 'acme' } })
    for (const input of ['1', '2', '3', '4', '5']) await session.run(input)
    const [account] = told[0] as [string]
    expect(account).toContain('acme')
    expect(told).toEqual([
      [account, 50, 30, false],
      [account, 50, 45, true],
      [account, 50, 45, true],
    ])
  })

  it('tells nothing of a limit that is far, nor of that of another tenant', async () => {
    const { agent } = scene(['a', 'b'], { limit: 50, warnAt: 0.6, estimate: cheap, per: 'tenant' })
    const told: unknown[] = []
    agent.on('guard:budget', (event) => told.push(event))
    for (const tenantId of ['acme', 'globex']) await agent.run('go', { session: { principal: { tenantId } } })
    expect(told).toEqual([])
  })

  it('lets the answer through where the ledger cannot tell how near the limit is', async () => {
    const ledger: Ledger = { ...memoryLedger(), balance: () => Promise.reject(new Error('down')) }
    const { agent } = scene(['hi'], { limit: 50, warnAt: 0, estimate: cheap, ledger })
    expect((await agent.run('go')).text).toBe('hi')
  })

  it.each([-0.1, 80, Number.NaN])('refuses a warnAt of %d', (warnAt) => {
    expect(() => budget({ limit: 1, warnAt })).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })

  it('streams as if it were not there', async () => {
    const events = async (layers: TypedMiddleware<{}>[]) => {
      const types: string[] = []
      const agent = new Agent({ model: scriptedModel([{ reasoning: 'hm', text: 'a b c' }]) }).use(layers)
      for await (const { type } of agent.run('hello')) types.push(type)
      return types
    }
    expect(await events([budget({ limit: 1 })])).toEqual(await events([]))
  })

  it.each([Number.NaN, -1, undefined as never])('refuses %s as a limit', (limit) => {
    expect(() => budget({ limit })).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})

const account = '["guard:budget","","","s"]'
const work = { name: 'work', description: 'Works', jsonSchema: { type: 'object' }, execute: () => 'worked' }
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

function cheap() {
  return { inputTokens: 5, outputTokens: 5 }
}

function scene(steps: ScriptedStep[], options: BudgetOptions<'guard:budget'>, clock = manualClock()) {
  const model: ScriptedModel = scriptedModel(steps)
  const agent = new Agent({ model, clock, logger: { warn() {}, error() {} } }).use(
    budget({ unit: 'tokens', ...options }),
  )
  return { agent, model }
}

/** A ledger that answers later, as one behind a socket does. */
function slow(ledger: Ledger): Ledger {
  return {
    async reserve(request) {
      await Promise.resolve()
      return ledger.reserve(request)
    },
    async settle(reservation, spent) {
      await Promise.resolve()
      return ledger.settle(reservation, spent)
    },
    balance: (account) => ledger.balance(account),
  }
}

function recording(ledger: Ledger, accounts: string[], ids: string[] = []): Ledger {
  return {
    ...ledger,
    reserve(request) {
      accounts.push(request.account)
      ids.push(request.id)
      return ledger.reserve(request)
    },
  }
}

/** Lets nobody on until `count` have come. */
function barrier(count: number): () => Promise<void> {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let came = 0
  return () => {
    if (++came === count) open()
    return opened
  }
}

async function failureOf(run: PromiseLike<unknown>): Promise<unknown> {
  try {
    return expect.fail(`The run did not fail: ${JSON.stringify(await run)}`)
  } catch (error) {
    return error
  }
}
