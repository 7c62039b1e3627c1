import type { SqliteStore } from '@allium/store-sqlite'
import { manualClock } from '@allium/testing'
import { expect, it } from 'vitest'
import { type WorkflowContext, workflow } from '../../src/workflow.ts'
import { ended, logger, principal, until, world } from './world.ts'

/** Runs code in one process. The clock moves while it runs. */
async function run<R>(code: (ctx: WorkflowContext) => Promise<R>) {
  const { clock, store, process } = world()
  const flow = workflow({ name: 'flow', version: '1', store, clock, logger, run: code })
  const runs = process(flow)
  const { run } = await runs.start({ principal, input: 'null' })
  const passing = until(async () => {
    await clock.advance(100)
    return (await runs.get(run, { principal })).status !== 'running'
  })
  const info = await ended(runs, run)
  await passing
  return { ...info, result: flow.result(info) }
}

it('retries a failed step with the same idempotency key', async () => {
  const keys: string[] = []
  const { result } = await run((ctx) =>
    ctx.step(
      'pay',
      ({ attempt, idempotencyKey }) => {
        keys.push(idempotencyKey)
        if (attempt < 3) throw new Error('busy')
        return attempt
      },
      { retry: { attempts: 3, delay: 100 } },
    ),
  )
  expect([result, keys.length, new Set(keys).size]).toEqual([3, 3, 1])
})

it('throws the error of a step that failed into the code, which may go another way', async () => {
  const { result } = await run(async (ctx) => {
    try {
      return await ctx.step('pay', () => Promise.reject(new Error('password is 1234')))
    } catch (error) {
      return (error as Error).message
    }
  })
  expect(result).toBe('The step "pay" failed.')
})

it('does not retry an error that the option "when" refuses', async () => {
  let attempts = 0
  const fail = () => {
    attempts++
    throw new TypeError('a bug')
  }
  const when = (error: unknown) => !(error instanceof TypeError)
  const { status, code } = await run((ctx) => ctx.step('pay', fail, { retry: { attempts: 5, when } }))
  expect([status, code, attempts]).toEqual(['failed', 'run.failed', 1])
})

it('ends an attempt that takes longer than its timeout', async () => {
  let aborted = false
  const hang = ({ signal }: { signal: AbortSignal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject((aborted = true))))
  const { status, reason } = await run((ctx) => ctx.step('slow', hang, { timeout: 500 }))
  expect([status, reason, aborted]).toEqual(['failed', 'The step "slow" took longer than 500 ms.', true])
})

it('throws the first error of ctx.all() when all of its steps have ended', async () => {
  const ran: string[] = []
  const fail = () => Promise.reject(new Error('no'))
  const { result } = await run((ctx) =>
    ctx.all([ctx.step('a', fail), ctx.step('b', () => ran.push('b'))]).catch((error: Error) => error.message),
  )
  expect([result, ran]).toEqual(['The step "a" failed.', ['b']])
})

it('fails a run that ends before its steps, which then do not run', async () => {
  const { status, reason } = await run(async (ctx) => void ctx.step('mail', () => 'sent'))
  expect(status).toBe('failed')
  expect(reason).toMatch(/ended before it had the result of "mail".* Await every step/)
})

it('fails a step whose result cannot be stored', async () => {
  const { reason } = await run((ctx) => ctx.step('load', () => ({ close() {} })))
  expect(reason).toMatch(/^The result of the step "load" cannot be stored\..* Return plain data\.$/)
})

it.each([
  ['a/b', {}, 'ctx.step() takes a name'],
  ['constructor', {}, 'ctx.step() takes a name'],
  ['a', { retries: 3 }, 'ctx.step("a") does not know the option retries'],
  ['a', { timeout: 0 }, 'takes timeout as milliseconds above 0'],
  ['a', { retry: { attempts: 0 } }, 'takes attempts as a whole number from 1 to 1000, but 0 was given'],
])('rejects a step "%s" with %o', async (name, options, message) => {
  const { code, reason } = await run((ctx) => ctx.step(name, () => 1, options as never))
  expect([code, reason]).toEqual(['options.invalid', expect.stringContaining(message)])
})

/** Resolves when the run has recorded when it wakes. */
function sleeps({ runs }: SqliteStore, run: string, sessionId: string): Promise<void> {
  const lease = { key: { tenant: 'acme', owner: 'ann', agent: 'nap', sessionId }, token: 0, version: 0 }
  return until(async () => (await runs.steps(lease, run)).some(({ id }) => id.includes('wake')))
}

it('sleeps for the rest of its time after its process was lost', async () => {
  const { clock, store, process } = world()
  const dead = manualClock()
  const make = (own = clock) =>
    workflow({ name: 'nap', version: '1', store, clock: own, logger, run: (ctx) => ctx.sleep(5000) })
  const lost = process(make(dead), { own: dead, lease: 2000 })
  const { run: id, sessionId } = await lost.start({ principal, input: 'null' })
  await sleeps(store, id, sessionId)
  await clock.advance(2001)
  const runs = process(make())
  await runs.recover()
  await clock.advance(2500)
  expect((await runs.get(id, { principal })).status).toBe('running')
  await clock.advance(500)
  expect((await ended(runs, id)).status).toBe('completed')
})

it('hands a run over that only sleeps when its process stops', async () => {
  const { clock, store, process } = world()
  const make = () => workflow({ name: 'nap', version: '1', store, clock, logger, run: (ctx) => ctx.sleep(5000) })
  const first = process(make())
  const { run: id, sessionId } = await first.start({ principal, input: 'null' })
  await sleeps(store, id, sessionId)
  const drained = first.drain()
  await clock.advance(1001)
  await drained
  const second = process(make())
  expect(await second.recover()).toBe(1)
  await clock.advance(4000)
  expect((await ended(second, id)).status).toBe('completed')
})

it('rejects a step inside a step at once, and says where it belongs', async () => {
  const { status, reason } = await run((ctx) => ctx.step('a', () => ctx.step('b', () => 1)))
  expect(status).toBe('failed')
  expect(reason).toMatch(/^ctx\.step\("b"\) was called while "a" ran\. Call it in run\(\)/)
})
