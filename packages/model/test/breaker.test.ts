import { Agent, type AnyMiddleware, isAlliumError, type Middleware } from '@allium/core'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type BreakerOptions, breaker, cache, fallback, isTransient, retry, route } from '../src/index.ts'

const down = () => Object.assign(new Error('down'), { name: 'APIError', status: 503 })
const times = (n: number, step: () => ScriptedStep = down) => Array.from({ length: n }, step)

interface Around {
  outside?: AnyMiddleware[]
  inside?: AnyMiddleware[]
  layer?: AnyMiddleware
}

/** An agent with a breaker that opens after two failures, for 1,000 ms. */
function scene(steps: readonly ScriptedStep[], options: BreakerOptions = {}, around: Around = {}) {
  const { outside = [], inside = [], layer = breaker({ threshold: 2, halfOpenAfter: 1000, ...options }) } = around
  const model = scriptedModel(steps, { id: 'main/0' })
  const clock = manualClock()
  const agent = new Agent({ model, clock, logger: { warn() {}, error() {} } }).use(outside).use(layer).use(inside)
  const states: string[] = []
  agent.on('model:breaker', ({ model, state }) => states.push(`${model} ${state}`))
  /** The text of a run, or the code or status of its failure. */
  const ask = async (principal?: unknown) => {
    try {
      return (await agent.run('hi', { session: { principal } })).text
    } catch (error) {
      const { code, status, name } = error as { code?: string; status?: number; name: string }
      return code ?? status ?? name
    }
  }
  return { agent, model, clock, ask, states }
}

describe('model.breaker', () => {
  it('lets answers through and says nothing', async () => {
    const { ask, states } = scene(['one', 'two'])
    expect([await ask(), await ask(), states]).toEqual(['one', 'two', []])
  })

  it('stops calling a model after its failures in a row', async () => {
    const { ask, model, states } = scene(times(2))
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([503, 503, 'model.open', 'model.open'])
    expect([model.calls, states]).toEqual([2, ['main/0 open']])
  })

  it('begins to count anew after an answer', async () => {
    const { ask } = scene([down(), 'ok', down(), 'ok again'])
    expect([await ask(), await ask(), await ask(), await ask()]).toEqual([503, 'ok', 503, 'ok again'])
  })

  it('opens at more than a share of the last calls, where that is asked for', async () => {
    const { ask } = scene(['ok', down(), 'ok', down(), down()], { threshold: { share: 0.5, of: 4 } })
    const answers: unknown[] = []
    for (let i = 0; i < 6; i++) answers.push(await ask())
    expect(answers).toEqual(['ok', 503, 'ok', 503, 503, 'model.open'])
  })

  it('says in its error which model it is, and when it may be tried', async () => {
    const { agent, ask, clock } = scene(times(2))
    await ask()
    await ask()
    await clock.advance(400)
    const error = await agent.run('hi').catch((error: unknown) => error)
    expect(error).toMatchObject({
      code: 'model.open',
      details: { model: 'main/0', retryAfter: 600 },
      retryAfter: 600,
      isRetryable: false,
    })
    expect(isTransient(error)).toBe(false)
  })

  it('lets one call through as a trial after its time, and closes when that succeeds', async () => {
    const { ask, clock, states } = scene([...times(2), 'back', 'and on'])
    await ask()
    await ask()
    await clock.advance(999)
    expect(await ask()).toBe('model.open')
    await clock.advance(1)
    expect([await ask(), await ask()]).toEqual(['back', 'and on'])
    expect(states).toEqual(['main/0 open', 'main/0 half-open', 'main/0 closed'])
  })

  it('opens again, for its whole time, when the trial fails', async () => {
    const { ask, clock, model, states } = scene(times(3))
    await ask()
    await ask()
    await clock.advance(1000)
    expect([await ask(), await ask(), model.calls]).toEqual([503, 'model.open', 3])
    expect(states.at(-1)).toBe('main/0 open')
    await clock.advance(999)
    expect(await ask()).toBe('model.open')
  })

  it('turns other calls away while a trial runs, and lets another one follow a trial that hangs', async () => {
    const { ask, agent, clock, states } = scene([...times(2), { stall: true }, 'back'])
    await ask()
    await ask()
    await clock.advance(1000)
    const trial = agent.run('hangs')
    await clock.advance(0)
    expect(await ask()).toBe('model.open')
    await clock.advance(1000)
    expect(await ask()).toBe('back')
    trial.abort('enough')
    await trial.settled()
    expect(states).toEqual(['main/0 open', 'main/0 half-open', 'main/0 closed'])
  })

  it.each<[string, ScriptedStep]>([
    ['an error that does not pass', Object.assign(new Error('bad request'), { status: 400 })],
    ['a plain error', new Error('bug')],
  ])('does not count %s, neither as failure nor as success', async (_, step) => {
    const { ask } = scene([down(), step, down()])
    await ask()
    await ask()
    expect([await ask(), await ask()]).toEqual([503, 'model.open'])
  })

  it('counts a stream that was cut, and what `when` says', async () => {
    const cut = scene(times(2, () => ({ text: 'half', cut: true })))
    expect([await cut.ask(), await cut.ask(), await cut.ask()]).toEqual([
      'model.truncated',
      'model.truncated',
      'model.open',
    ])
    const own = scene([new RangeError('x'), new RangeError('y')], { when: (error) => error instanceof RangeError })
    expect([await own.ask(), await own.ask(), await own.ask()]).toEqual(['RangeError', 'RangeError', 'model.open'])
  })

  it('counts a call that a layer outside left, because it took too long', async () => {
    const late: Middleware = {
      name: 'late',
      model(ctx, next) {
        const timer = new AbortController()
        ctx.clock.after(10, () => timer.abort(new DOMException('too slow', 'TimeoutError')))
        return next({ signal: timer.signal })
      },
    }
    const { ask, clock } = scene([{ stall: true }], { threshold: 1 }, { outside: [late] })
    const slow = ask()
    await clock.advance(10)
    await slow
    expect(await ask()).toBe('model.open')
  })

  it('does not count a block, whatever `when` says', async () => {
    const guard: AnyMiddleware = { name: 'guard', model: (ctx) => ctx.block('no') }
    const { agent, states } = scene([], { when: () => true, threshold: 1 }, { inside: [guard] })
    const results = [await agent.run('1'), await agent.run('2')]
    expect([results.map(({ status }) => status), states]).toEqual([['blocked', 'blocked'], []])
  })

  it('does not count an abort, and a trial that is aborted makes room for the next', async () => {
    const { agent, ask, clock } = scene([...times(2), { stall: true }, 'back'])
    await ask()
    await ask()
    await clock.advance(1000)
    const trial = agent.run('hangs')
    await clock.advance(0)
    trial.abort('enough')
    await trial.settled()
    expect(await ask()).toBe('back')
  })

  it('lets no third call in where a trial that hung ends while another one runs', async () => {
    const { ask, agent, clock } = scene([...times(2), { stall: true }, { stall: true }, 'never'])
    await ask()
    await ask()
    await clock.advance(1000)
    const hung = agent.run('hangs')
    await clock.advance(1000)
    const second = agent.run('the next trial')
    await clock.advance(0)
    hung.abort('enough')
    await hung.settled()
    expect(await ask()).toBe('model.open')
    second.abort('enough')
    await second.settled()
  })

  it('takes no notice of calls that began before it opened', async () => {
    const late: ((step: string) => void)[] = []
    const slow: ScriptedStep = () => new Promise((resolve) => late.push(resolve))
    const { ask, clock, states } = scene([slow, ...times(2)])
    const first = ask()
    await clock.advance(0)
    await ask()
    await ask()
    late[0]?.('late')
    expect([await first, await ask(), states]).toEqual(['late', 'model.open', ['main/0 open']])
  })

  it('is shared by all tenants of the process, and by agents that use the same layer', async () => {
    const layer = breaker({ threshold: 2 })
    const { ask } = scene(times(2), {}, { layer })
    const other = scene([], {}, { layer })
    expect([await ask({ tenantId: 'a' }), await ask({ tenantId: 'b' })]).toEqual([503, 503])
    expect([await ask({ tenantId: 'c' }), await other.ask()]).toEqual(['model.open', 'model.open'])
  })

  it.each<[string, BreakerOptions]>([
    ['per tenant', { per: 'tenant' }],
    ['by a function', { per: ({ principal }) => String((principal as { tenantId: string }).tenantId) }],
  ])('keeps tenants apart %s', async (_, options) => {
    const { ask } = scene([...times(2), 'fine'], options)
    await ask({ tenantId: 'a' })
    await ask({ tenantId: 'a' })
    expect([await ask({ tenantId: 'a' }), await ask({ tenantId: 'b' })]).toEqual(['model.open', 'fine'])
  })

  it('keeps the models of a fallback apart, which goes on at once where one is open', async () => {
    const backup = scriptedModel(['1', '2', '3'], { id: 'backup/1' })
    const { ask, model } = scene(times(2), {}, { outside: [fallback({ models: [backup] })] })
    expect([await ask(), await ask(), await ask(), model.calls]).toEqual(['1', '2', '3', 2])
  })

  it('ends the attempts of model.retry when it opens', async () => {
    const { ask, clock, model } = scene(times(2), {}, { outside: [retry({ attempts: 5, delay: 10 })] })
    const answer = ask()
    await clock.advance(30)
    expect([await answer, model.calls]).toEqual(['model.open', 2])
  })

  it('tells a retry that is to wait for it how long', async () => {
    const patient = retry({ when: (error) => isAlliumError(error, 'model.open') })
    const { ask, clock } = scene([...times(2), 'back'], {}, { outside: [patient] })
    await ask()
    await ask()
    const answer = ask()
    await clock.advance(999)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    expect(await answer).toBe('back')
  })

  it('fails a run that is read as it fails one that is awaited', async () => {
    const { agent, ask } = scene([{ text: 'half', error: down() }, down()])
    await ask()
    await ask()
    const events: string[] = []
    const read = async () => {
      for await (const { type } of agent.run('hi')) events.push(type)
    }
    await expect(read()).rejects.toMatchObject({ code: 'model.open' })
    expect(events).not.toContain('text-delta')
  })

  it('asks to stand inside what repeats, caches or routes', () => {
    for (const outer of [retry(), fallback({ models: ['b/1'] }), cache(), route({ to: () => 'b/1' })]) {
      const layers = [breaker(), outer]
      const agent = new Agent({ model: scriptedModel([]), orderCheck: 'off' }).use(layers)
      expect(agent.check()).toMatchObject([{ severity: 'error', layers: [outer.name, 'model:breaker'] }])
    }
  })

  it.each<[BreakerOptions, string]>([
    [{ threshold: 0 }, 'not 0.'],
    [{ threshold: 1.5 }, 'not 1.5.'],
    [{ threshold: { share: 1, of: 20 } }, 'threshold.share to be a number above 0 and below 1, not 1'],
    [{ threshold: { share: 0.5, of: 0 } }, 'threshold.of to be a whole number, 1 or more, not 0'],
    [{ halfOpenAfter: 0 }, 'halfOpenAfter to be a number above 0'],
    [{ halfOpenAfter: Number.NaN }, 'not NaN.'],
  ])('refuses %j', (options, message) => {
    expect(() => breaker(options)).toThrowError(expect.objectContaining({ code: 'layer.config' }))
    expect(() => breaker(options)).toThrowError(message)
  })
})
