import { Agent, type Model } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { afterEach, expect, it, vi } from 'vitest'
import { type Durable, type DurableOptions, durable, type StartOptions } from '../src/index.ts'

const principalOf = (tenantId: string) => ({ tenantId, userId: 'ann' })
const principal = principalOf('acme')
const logger = { warn() {}, error() {} }
const open: Durable[] = []
const waiting = new Set<() => void>()
afterEach(async () => {
  const drained = Promise.all(open.splice(0).map((one) => one.drain()))
  const timer = setInterval(() => {
    for (const end of waiting) end()
  }, 1)
  await drained
  clearInterval(timer)
})

/** Processes on one store. Each model call waits until the test ends it. */
function world() {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const model: Model = {
    id: 'test/waits',
    async *stream(request) {
      const input = String(request.messages.at(-1)?.content)
      started.push(input)
      await new Promise<void>((resolve) => {
        ends.set(input, resolve)
        waiting.add(resolve)
      })
      yield* scriptedModel(['Done.']).stream(request)
    },
  }
  const process = (options: Partial<DurableOptions> = {}) => {
    const agent = new Agent({ version: '1', model, clock }).use(persist({ store: store.sessions }))
    const runs = durable(agent, { store, lease: 1000, clock, logger, ...options })
    open.push(runs)
    return runs
  }
  const startAll = async (runs: Durable, inputs: readonly string[], more: Partial<StartOptions> = {}) => {
    for (const input of inputs) await runs.start({ principal, sessionId: input, input, ...more })
  }
  const end = (input: string) => ends.get(input)?.()
  const hasStarted = (...inputs: string[]) =>
    vi.waitFor(() => expect(started).toEqual(inputs), { timeout: 15_000, interval: 1 })
  return { clock, store, started, process, startAll, end, hasStarted }
}

it('starts the next run of a queue as soon as one ends, without waiting for a look', async () => {
  const { process, startAll, end, hasStarted } = world()
  const runs = process({ queues: { emails: { concurrency: 2 } } })
  await startAll(runs, ['a', 'b', 'c', 'd'], { queue: 'emails' })
  await hasStarted('a', 'b')
  end('b')
  await hasStarted('a', 'b', 'c')
  end('a')
  await hasStarted('a', 'b', 'c', 'd')
})

it('shares the concurrency of a queue with other processes, and keeps its own workerConcurrency', async () => {
  const { process, startAll, end, hasStarted, started } = world()
  const queues = { emails: { concurrency: 3, workerConcurrency: 2 } }
  const [first, second] = [process({ queues }), process({ queues })]
  await startAll(first, ['a', 'b', 'c', 'd', 'e'], { queue: 'emails' })
  await hasStarted('a', 'b')
  await second.recover()
  await hasStarted('a', 'b', 'c')
  end('c')
  await hasStarted('a', 'b', 'c', 'd')
  await Promise.all([first.recover(), second.recover()])
  expect(started).toHaveLength(4)
})

it('fills all free places of a process with one look, and those of the default queue do not count for another', async () => {
  const { process, startAll, started } = world()
  const stopped = process({ queues: { emails: {} } })
  await stopped.drain()
  await startAll(
    stopped,
    Array.from({ length: 230 }, (_, i) => `plain ${i}`),
  )
  await startAll(stopped, ['mail 1', 'mail 2'], { queue: 'emails' })
  await process({ concurrency: 220, queues: { emails: { concurrency: 1 } } }).recover()
  await vi.waitFor(() => expect(started).toHaveLength(220), { timeout: 15_000 })
  expect(started.filter((input) => input.startsWith('mail'))).toEqual(['mail 1'])
})

it('starts waiting runs when the period of the rate limit has passed, without waiting for a look', async () => {
  const { clock, process, startAll, end, hasStarted } = world()
  const runs = process({ lease: 60_000, queues: { emails: { rateLimit: { limit: 2, period: 500 } } } })
  await startAll(runs, ['a', 'b', 'c', 'd'], { queue: 'emails' })
  await hasStarted('a', 'b')
  end('a')
  await clock.advance(499)
  await hasStarted('a', 'b')
  await clock.advance(1)
  await hasStarted('a', 'b', 'c', 'd')
})

it('starts urgent runs first, and lets tenants take turns', async () => {
  const { process, startAll, end, hasStarted } = world()
  const runs = process({ queues: { default: { concurrency: 1 } } })
  await startAll(runs, ['a1', 'a2', 'a3'])
  await startAll(runs, ['a-urgent'], { priority: -1 })
  await startAll(runs, ['b1', 'b2'], { principal: principalOf('globex') })
  const order = ['a1', 'a-urgent', 'b1', 'a2', 'b2', 'a3']
  for (const [i, input] of order.entries()) {
    await hasStarted(...order.slice(0, i + 1))
    end(input)
  }
})

it('runs a low priority in the end, although urgent runs keep arriving', async () => {
  const { clock, process, startAll, end, hasStarted } = world()
  const runs = process({ queues: { default: { concurrency: 1 } } })
  const began = clock.now() - 300_000
  await startAll(runs, ['urgent 1'], { runAt: began })
  await startAll(runs, ['low'], { priority: 1, runAt: began })
  // One urgent run every 40 seconds. A step of priority is a minute.
  const order = ['urgent 1', 'urgent 2', 'low', 'urgent 3', 'urgent 4']
  for (const [i, input] of order.entries()) {
    await startAll(runs, [`urgent ${i + 2}`], { runAt: began + (i + 1) * 40_000 })
    await hasStarted(...order.slice(0, i + 1))
    end(input)
  }
})

it('stops a waiting run at once, although its queue is full', async () => {
  const { process, startAll, hasStarted } = world()
  const runs = process({ queues: { emails: { concurrency: 1 } } })
  await startAll(runs, ['a'], { queue: 'emails' })
  await hasStarted('a')
  const { run } = await runs.start({ principal, sessionId: 'b', input: 'b', queue: 'emails' })
  await runs.stop(run, { principal })
  await vi.waitFor(async () => expect((await runs.get(run, { principal })).status).toBe('aborted'), { timeout: 15_000 })
})

it('reports the queue and the priority of a run', async () => {
  const { process } = world()
  const runs = process({ queues: { emails: {} } })
  const { run } = await runs.start({ principal, input: 'Hi', queue: 'emails', priority: 7 })
  expect(await runs.get(run, { principal })).toMatchObject({ queue: 'emails', priority: 7 })
})

it('leaves the waiting runs of queues that it does not declare to other processes', async () => {
  const { process, startAll, started } = world()
  const feeder = process({ queues: { emails: {} } })
  await feeder.drain()
  await startAll(feeder, ['mail'], { queue: 'emails' })
  expect([await process().recover(), started]).toEqual([0, []])
})

it('rejects undeclared queues and priorities out of range with run.options, before anything is stored', async () => {
  const { process } = world()
  const runs = process({ queues: { emails: {} } })
  const start = (more: Partial<StartOptions>) => runs.start({ principal, input: 'Hi', ...more })
  await expect(start({ queue: 'mails' })).rejects.toThrow(/"mails" is not declared.*"default", "emails"/)
  await expect(start({ queue: 'toString' })).rejects.toMatchObject({ code: 'run.options' })
  await expect(start({ priority: 1001 })).rejects.toMatchObject({ code: 'run.options' })
  expect((await runs.list({ tenant: 'acme' })).items).toEqual([])
})

it.each([
  [{ emails: { concurrency: 0 } }, 'concurrency'],
  [{ emails: { perTenant: 1.5 } }, 'perTenant'],
  [{ emails: { concurrency: 2, workerConcurrency: 3 } }, 'workerConcurrency'],
  [{ emails: { rateLimit: { limit: 0, period: 1000 } } }, 'rateLimit.limit'],
  [{ emails: { rateLimit: { limit: 1, period: 0 } } }, 'rateLimit.period'],
  [{ emails: { rateLimit: { limit: 1, period: 1e9 } } }, 'one day'],
  [{ emails: { limiter: {} } }, 'limiter'],
])('rejects the queues %j with agent.options', (queues, named) => {
  const { process } = world()
  expect(() => process({ queues: queues as never })).toThrow(named)
})
