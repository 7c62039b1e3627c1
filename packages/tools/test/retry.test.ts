import {
  Agent,
  AlliumError,
  type AnyMiddleware,
  type AnyTool,
  type Middleware,
  type ToolExecution,
  type ToolResult,
  toolResult,
} from '@allium/core'
import { manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type RetryOptions, retry, type ToolsRetry } from '../src/index.ts'

type Attempt = unknown | ((ctx: ToolExecution) => unknown)

/** One call of the tool `look`, whose attempts return, or throw where they are errors. */
function scene(attempts: Attempt[], options: Partial<RetryOptions> = {}, around: Around = {}) {
  const { outside = [], inside = [], tool = {} } = around
  const clock = manualClock()
  const told: ToolsRetry[] = []
  let ran = 0
  const look: AnyTool = {
    name: 'look',
    description: 'Looks',
    jsonSchema: {},
    execute(_: never, ctx) {
      const attempt = attempts[ran++]
      if (attempt instanceof Error) throw attempt
      return typeof attempt === 'function' ? attempt(ctx) : attempt
    },
    ...tool,
  }
  const model = scriptedModel([{ toolCalls: [{ name: 'look', args: { at: 'sky' } }] }, 'Done.'])
  const agent = new Agent({ model, clock, tools: [look], logger: { warn() {}, error() {} } })
    .use(outside)
    .use(retry({ tools: ['look'], jitter: 0, ...options }))
    .use(inside)
  agent.on('tools:retry', (event) => told.push(event))
  const run = agent.run('go')
  /** Passes each wait as it is told. */
  const end = async () => {
    let over = false
    void run.settled().then(() => {
      over = true
    })
    for (let passed = 0; !over; ) {
      await clock.advance(0)
      const wait = told[passed]
      if (wait !== undefined && ++passed) await clock.advance(wait.delay)
    }
    const { toolCalls } = await run
    return toolCalls[0]?.result as ToolResult
  }
  return { run, end, told, clock, ran: () => ran }
}

interface Around {
  outside?: AnyMiddleware[]
  inside?: AnyMiddleware[]
  tool?: Partial<AnyTool>
}

const failing = (status: number, more = {}) => Object.assign(new Error('secret'), { status, ...more })

describe('tools.retry', () => {
  it('passes a result through and waits for nothing', async () => {
    const { end, clock, ran } = scene(['blue'])
    expect((await end()).content).toBe('blue')
    expect([ran(), clock.pending]).toEqual([1, 0])
  })

  it('repeats a call that failed for a passing reason, and tells each wait without the error', async () => {
    const { end, told } = scene([failing(503), Object.assign(new Error('cut'), { code: 'ECONNRESET' }), 'blue'])
    expect(await end()).toMatchObject({ content: 'blue', status: 'ok' })
    expect(told).toEqual([
      { type: 'tools:retry', tool: 'look', callId: 'call-1', attempt: 1, delay: 250, status: 503 },
      { type: 'tools:retry', tool: 'look', callId: 'call-1', attempt: 2, delay: 500, status: undefined },
    ])
  })

  it('gives the last error result to the model after its attempts', async () => {
    const last = failing(503)
    const { end, ran } = scene([failing(503), last], { attempts: 2 })
    expect(await end()).toMatchObject({ status: 'error', content: 'The tool "look" failed.', error: last })
    expect(ran()).toBe(2)
  })

  it('leaves tools alone that it does not name', async () => {
    const { end, ran } = scene([failing(503)], { tools: ['other'] })
    expect((await end()).status).toBe('error')
    expect(ran()).toBe(1)
  })

  it.each([
    ['a plain error', new Error('bug')],
    ['a status of 404', failing(404)],
    ['a result that the tool marked as an error', toolResult({ content: 'No such star.', isError: true })],
  ])('does not repeat %s', async (_, attempt) => {
    const { end, ran } = scene([attempt, 'blue'])
    expect((await end()).status).toBe('error')
    expect(ran()).toBe(1)
  })

  it('asks `when` of what was thrown and of the result', async () => {
    const asked: unknown[] = []
    const when = (error: unknown, result?: ToolResult) => asked.push(error, result?.content) > 0
    const { end } = scene([toolResult({ content: 'Busy.', isError: true }), 'blue'], { when })
    expect((await end()).content).toBe('blue')
    expect(asked).toEqual([undefined, 'Busy.'])
  })

  it('repeats a tool that took too long, each attempt with its own time', async () => {
    const hang = () => new Promise(() => {})
    const { run, clock, ran } = scene([hang, 'blue'], {}, { tool: { timeout: 1_000 } })
    await clock.advance(1_000)
    await clock.advance(250)
    expect((await run).toolCalls[0]?.result.content).toBe('blue')
    expect(ran()).toBe(2)
  })

  it('repeats where a layer inside threw for a passing reason, and throws its last error as it is', async () => {
    const error = failing(503)
    const inside: AnyMiddleware[] = [
      {
        name: 'broken',
        tool() {
          throw error
        },
      },
    ]
    const { end, told } = scene([], { attempts: 2 }, { inside })
    await expect(end()).rejects.toBe(error)
    expect(told).toHaveLength(1)
  })

  it.each<[string, NonNullable<Middleware['tool']>, object]>([
    ['denied', (ctx) => ctx.deny('no'), { status: 'denied' }],
    ['answered by a layer', (ctx) => ctx.skipCall('known'), { status: 'skipped' }],
  ])('does not repeat what was %s', async (_, answer, expected) => {
    let entered = 0
    const layer: Middleware = {
      name: 'end',
      tool(ctx, next) {
        entered++
        return answer(ctx, next)
      },
    }
    const { end } = scene([], { when: () => true }, { inside: [layer] })
    expect(await end()).toMatchObject(expected)
    expect(entered).toBe(1)
  })

  it('never repeats a block or an abort, whatever `when` says', async () => {
    const block = scene([(ctx: ToolExecution) => ctx.block('no')], { when: () => true })
    await block.end()
    expect(await block.run).toMatchObject({ status: 'blocked', reason: 'no' })
    const abort = scene([(ctx: ToolExecution) => ctx.abort('no')], { when: () => true })
    await expect(abort.end()).rejects.toMatchObject({ name: 'AbortError' })
    expect([block.ran(), abort.ran()]).toEqual([1, 1])
  })

  it('takes an AbortError of the tool’s own for the end of it, whatever `when` says', async () => {
    const { end, ran } = scene([() => Promise.reject(new DOMException('gone', 'AbortError'))], { when: () => true })
    expect((await end()).status).toBe('error')
    expect(ran()).toBe(1)
  })

  it('leaves a call that waits for a human waiting', async () => {
    const { run, ran } = scene([(ctx: ToolExecution) => ctx.suspend({ reason: 'sure?' })], { when: () => true })
    expect(await run).toMatchObject({ status: 'suspended', pending: [{ name: 'look' }] })
    expect(ran()).toBe(1)
  })

  it('waits as Retry-After says, and no longer than maxDelay', async () => {
    const asks = (seconds: string) => failing(429, { headers: { 'retry-after': seconds } })
    const { end, told } = scene([asks('7'), asks('100'), 'blue'], { maxDelay: 10_000 })
    await end()
    expect(told.map(({ delay }) => delay)).toEqual([7_000, 10_000])
  })

  it('ends its wait at once when the run is aborted', async () => {
    const { run, clock, ran } = scene([failing(503), 'never'], { delay: 20_000 })
    await clock.advance(0)
    expect(clock.pending).toBe(1)
    run.abort('enough')
    await expect(run).rejects.toMatchObject({ name: 'AbortError' })
    expect([clock.pending, ran()]).toEqual([0, 1])
  })

  it('runs every layer inside again, with the arguments as they were', async () => {
    const seen: unknown[] = []
    const change: Middleware = {
      name: 'change',
      tool(ctx, next) {
        seen.push([ctx.attempt, ctx.args])
        ctx.modifyArgs({ at: 'sea' })
        return next()
      },
    }
    await scene([failing(503), 'blue'], {}, { inside: [change] }).end()
    expect(seen).toEqual([
      [1, { at: 'sky' }],
      [2, { at: 'sky' }],
    ])
  })

  it('has an effect inside `ctx.once` happen once across all attempts', async () => {
    let paid = 0
    const pay = async (ctx: ToolExecution) => {
      const receipt = await ctx.once('pay', () => ++paid)
      if (ctx.attempt < 3) throw failing(503)
      return `receipt ${receipt}`
    }
    const { end } = scene([pay, pay, pay])
    expect([(await end()).content, paid]).toEqual(['receipt 1', 1])
  })

  it.each([[{ tools: [] }], [{ tools: undefined as unknown as string[] }], [{ tools: ['look'], attempts: 0 }]])(
    'refuses %j',
    (options) => {
      expect(() => retry(options)).toThrow(AlliumError)
    },
  )

  it('stands under another name, and asks to stand outside meters', () => {
    const meter: Middleware = { name: 'meter', order: { is: ['meters'] }, tool: (_, next) => next() }
    const agent = new Agent({ model: scriptedModel([]) }).use(meter).use(retry({ tools: ['look'], as: 'again' }))
    expect(agent.check()).toMatchObject([{ severity: 'error', layers: ['again', 'meter'] }])
  })
})
