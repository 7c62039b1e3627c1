import { Agent, type AgentOptions, AlliumError, type AnyMiddleware } from '@allium/core'
import { type ManualClock, manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type RetryOptions, retry } from '../src/index.ts'

describe('model.retry', () => {
  it('passes an answer through and waits for nothing', async () => {
    const { run, model, clock } = scene(['fine'])
    expect((await run).text).toBe('fine')
    expect(model.calls).toBe(1)
    expect(clock.pending).toBe(0)
  })

  it('repeats a call that failed for a passing reason', async () => {
    const { run, model } = scene([failing(503), failing(429), 'at last'], { delay: 0 })
    expect((await run).text).toBe('at last')
    expect(model.calls).toBe(3)
  })

  it('throws the last error as it is after its attempts', async () => {
    const errors = [failing(500), failing(500)]
    const { run, model } = scene(errors, { attempts: 2, delay: 0 })
    expect(await failureOf(run)).toBe(errors[1])
    expect(model.calls).toBe(2)
  })

  it('runs every layer inside it again', async () => {
    const attempts: number[] = []
    const meter: AnyMiddleware = {
      name: 'meter',
      model(ctx, next) {
        attempts.push(ctx.attempt)
        return next()
      },
    }
    await scene([failing(503), 'ok'], { delay: 0 }, { inside: [meter] }).run
    expect(attempts).toEqual([1, 2])
  })

  it.each([408, 409, 425, 429, 500, 502, 503, 504, 529])('repeats status %i', async (status) => {
    expect((await scene([failing(status), 'ok'], { delay: 0 }).run).text).toBe('ok')
  })

  it.each([400, 401, 403, 404, 413, 422, 501])('does not repeat status %i', async (status) => {
    const { run, model } = scene([failing(status)], { delay: 0 })
    expect(await failureOf(run)).toMatchObject({ status })
    expect(model.calls).toBe(1)
  })

  it.each([
    ['a reset socket', Object.assign(new Error('read'), { code: 'ECONNRESET' })],
    ['a fetch whose socket was cut', new TypeError('terminated', { cause: { code: 'UND_ERR_SOCKET' } })],
    [
      'an error that says it is retryable, cut after its 200',
      Object.assign(new Error('cut'), { statusCode: 200, isRetryable: true }),
    ],
    ['a timeout', new DOMException('too slow', 'TimeoutError')],
  ])('repeats %s', async (_, error) => {
    expect((await scene([{ error }, 'ok'], { delay: 0 }).run).text).toBe('ok')
  })

  it('repeats a stream that ended without its finish', async () => {
    expect((await scene([{ text: 'half', cut: true }, 'whole'], { delay: 0 }).run).text).toBe('whole')
  })

  it.each([
    ['a plain error', new Error('bug')],
    ['an error that says it is not retryable', Object.assign(new Error('quota'), { status: 429, isRetryable: false })],
    ['a host that is not known', Object.assign(new Error('dns'), { code: 'ENOTFOUND' })],
    ['something that is no error', 'oops'],
    ['nothing', undefined],
  ])('does not repeat %s', async (_, error) => {
    const { run, model } = scene([{ error }], { delay: 0 })
    expect(await failureOf(run)).toBe(error)
    expect(model.calls).toBe(1)
  })

  it('asks `when` which errors are worth another attempt', async () => {
    const when = (error: unknown) => error instanceof RangeError
    expect((await scene([new RangeError('x'), 'ok'], { delay: 0, when }).run).text).toBe('ok')
    expect(await failureOf(scene([failing(503)], { delay: 0, when }).run)).toMatchObject({ status: 503 })
  })

  it('never repeats a block, whatever `when` says', async () => {
    let entered = 0
    const guard: AnyMiddleware = {
      name: 'guard',
      model(ctx) {
        entered++
        return ctx.block('no')
      },
    }
    const result = await scene([], { when: () => true, delay: 0 }, { inside: [guard] }).run
    expect(result).toMatchObject({ status: 'blocked', reason: 'no' })
    expect(entered).toBe(1)
  })

  it('never repeats an abort, whatever `when` says', async () => {
    let entered = 0
    const guard: AnyMiddleware = {
      name: 'guard',
      model(ctx) {
        entered++
        return ctx.abort('no')
      },
    }
    const { run } = scene([], { when: () => true, delay: 0 }, { inside: [guard] })
    expect(await failureOf(run)).toMatchObject({ name: 'AbortError' })
    expect(entered).toBe(1)
  })

  it('doubles its wait and caps it', async () => {
    const options = { attempts: 5, delay: 100, maxDelay: 300, jitter: 0 }
    expect(await delays([failing(500), failing(500), failing(500), failing(500), 'ok'], options)).toEqual([
      100, 200, 300, 300,
    ])
  })

  it('leaves a part of the wait to chance', async () => {
    const options = { delay: 100, jitter: 0.5, random: () => 0.8 }
    expect(await delays([failing(500), failing(500), 'ok'], options)).toEqual([60, 120])
  })

  it('waits on the agent’s clock', async () => {
    const { run, clock, model } = scene([failing(500), 'ok'], { delay: 1000, jitter: 0 })
    await clock.advance(999)
    expect(clock.pending).toBe(1)
    expect(model.calls).toBe(1)
    await clock.advance(1)
    expect((await run).text).toBe('ok')
  })

  const now = Date.parse('Wed, 21 Oct 2015 07:28:00 GMT')
  it.each<[string, Record<string, string>, number]>([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['parts of seconds', { 'retry-after': '0.5' }, 500],
    ['milliseconds, which win', { 'retry-after-ms': '120', 'retry-after': '7' }, 120],
    ['an HTTP date', { 'retry-after': 'Wed, 21 Oct 2015 07:28:09 GMT' }, 9000],
    ['a date that is past', { 'retry-after': 'Wed, 21 Oct 2015 07:00:00 GMT' }, 0],
    ['any case of the name', { 'Retry-After': '2' }, 2000],
    ['far too long, capped', { 'retry-after': '1e9' }, 30_000],
    ['a negative number, which is no wait', { 'retry-after': '-5' }, 250],
    ['nonsense', { 'retry-after': 'abc' }, 250],
    ['nonsense with a number', { 'retry-after': 'abc 1' }, 250],
    ['nothing', { 'retry-after': '' }, 250],
    ['not a number', { 'retry-after': 'NaN' }, 250],
    ['for ever', { 'retry-after': 'Infinity' }, 250],
  ])('honours Retry-After as %s', async (_, headers, expected) => {
    for (const at of [
      { responseHeaders: headers },
      { headers },
      { headers: new Headers(headers) },
      { response: { headers: new Headers(headers) } },
      { cause: { headers } },
    ]) {
      expect(await delays([Object.assign(failing(429), at), 'ok'], { jitter: 0 }, manualClock(now))).toEqual([expected])
    }
  })

  it('ends its wait at once when the run is aborted', async () => {
    const { run, clock, model } = scene([failing(500), 'never'], { delay: 60_000, maxDelay: 60_000 })
    await clock.advance(0)
    expect(clock.pending).toBe(1)
    run.abort('enough')
    expect(await failureOf(run)).toMatchObject({ name: 'AbortError', reason: 'enough' })
    expect(clock.pending).toBe(0)
    expect(model.calls).toBe(1)
  })

  it('takes text back with one reset when a stream breaks in the middle', async () => {
    const { run } = scene([{ text: 'Hel', error: failing(503) }, 'Hello'], { delay: 0 })
    const seen: string[] = []
    for await (const event of run) {
      if (event.type === 'text-delta') seen.push(String(event.delta))
      if (event.type === 'model:reset') seen.push('reset')
    }
    expect(seen).toEqual(['Hel', 'reset', 'Hello'])
    expect((await run).text).toBe('Hello')
  })

  it('fails in the middle of a stream where it is told to, and still repeats before the first chunk', async () => {
    const broken = failing(503)
    const { run, model } = scene([failing(503), { text: 'Hel', error: broken }], { delay: 0, afterOutput: 'fail' })
    expect(await failureOf(run)).toBe(broken)
    expect(model.calls).toBe(2)
  })

  it('tells each wait as an event, without the error', async () => {
    const events: unknown[] = []
    const secret = Object.assign(failing(429), { message: 'key sk-123' })
    const { run } = scene([secret, 'ok'], { delay: 0 }, { on: (event) => events.push(event) })
    await run
    expect(events).toEqual([{ type: 'model:retry', attempt: 1, delay: 0, status: 429 }])
  })

  it('stands under another name, and twice in one agent', async () => {
    const { run, model } = scene(
      [failing(500), failing(500), failing(500), 'ok'],
      { delay: 0, attempts: 2 },
      {
        outside: [retry({ as: 'outer', attempts: 2, delay: 0 })],
      },
    )
    expect((await run).text).toBe('ok')
    expect(model.calls).toBe(4)
  })

  it('asks to stand outside meters', () => {
    const meter: AnyMiddleware = { name: 'meter', order: { is: ['meters'] }, model: (_, next) => next() }
    const agent = new Agent({ model: scriptedModel([]) }).use(meter).use(retry())
    expect(agent.check()).toMatchObject([{ severity: 'error', layers: ['model:retry', 'meter'] }])
  })
})

interface Around {
  outside?: AnyMiddleware[]
  inside?: AnyMiddleware[]
  on?(event: unknown): void
  clock?: ManualClock
}

function scene(
  steps: ScriptedStep[],
  options: RetryOptions = {},
  { outside = [], inside = [], on, clock = manualClock() }: Around = {},
) {
  const model = scriptedModel(steps)
  const settings: AgentOptions = { model, clock, logger: { warn() {}, error() {} } }
  const agent = new Agent(settings).use(outside).use(retry(options)).use(inside)
  if (on !== undefined) agent.on('model:retry', on)
  const run = agent.run('hello')
  if (options.delay === 0) drive(clock, run)
  return { run, model, clock }
}

/** Fires waits of no length as they come. */
function drive(clock: ManualClock, run: PromiseLike<unknown>): void {
  let over = false
  const end = () => {
    over = true
  }
  void (run as Promise<unknown>).then(end, end)
  const go = async () => {
    while (!over) await clock.advance(0)
  }
  void go()
}

/** The waits between the attempts, each passed as soon as it is told. */
async function delays(steps: ScriptedStep[], options: RetryOptions, clock = manualClock()): Promise<number[]> {
  const told: number[] = []
  const { run } = scene(
    steps,
    { when: () => true, ...options },
    { on: (event) => told.push((event as { delay: number }).delay), clock },
  )
  let over = false
  void run.settled().then(() => {
    over = true
  })
  for (let passed = 0; !over; ) {
    await clock.advance(0)
    if (told.length > passed) await clock.advance(told[passed++] as number)
  }
  await run
  return told
}

function failing(status: number): Error & { status: number } {
  return Object.assign(new Error(`status ${status}`), { status })
}

async function failureOf(run: PromiseLike<unknown>): Promise<unknown> {
  try {
    await run
  } catch (error) {
    return error
  }
  throw new AlliumError('test.script', 'The run did not fail.')
}

it('retry() knows the names of its option in other frameworks', () => {
  expect(() => retry({ retries: 3 } as never)).toThrow('does not know the option retries. Did you mean "attempts"?')
})
