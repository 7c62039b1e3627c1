import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { afterEach, expect, it } from 'vitest'
import { type Durable, type DurableEvent, type DurableOptions, durable } from '../src/index.ts'
import { type DurableMetricsOptions, durableMetrics } from '../src/metrics.ts'
import { operations } from '../src/operations.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const logger = { warn() {}, error() {} }
const call: ScriptedStep = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }
const open: Durable[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.drain()))
})

function scene(options: DurableMetricsOptions = {}) {
  const clock = manualClock()
  const store = sqlite(':memory:', { clock })
  const ops = operations({ store, clock })
  const metrics = durableMetrics({ operations: ops, ...options })
  const events: DurableEvent[] = []
  const onEvent = (event: DurableEvent) => {
    events.push(event)
    metrics.onEvent(event)
  }
  /** A process; with `own`, its clock stands still, as that of a lost one. */
  const process = (
    steps: readonly ScriptedStep[],
    {
      own = clock,
      toolName = 'pay',
      ...more
    }: { own?: typeof clock; toolName?: string } & Partial<DurableOptions> = {},
  ) => {
    const tool = { name: toolName, description: 'Pays', jsonSchema: {}, execute: () => 'paid' }
    const model = scriptedModel(steps)
    const agent = new Agent({ name: 'support', version: '1', model, tools: [tool as never], clock: own })
    const options = { store, lease: 1000, clock: own, logger, onEvent, ...more }
    const runs = durable(agent.use(persist({ store: store.sessions })), options)
    if (own === clock) open.push(runs)
    return runs
  }
  const ended = async (runs: Durable, run: string) => {
    for await (const _ of runs.attach(run, { principal })) void _
  }
  return { clock, store, ops, metrics, events, process, ended }
}

const withoutRun = (events: readonly DurableEvent[]) => events.map(({ ...event }) => ({ ...event, run: undefined }))
const of = { run: undefined, tenant: 'acme', agent: 'support', version: '1' }

it('reports the claim and the end of a run', async () => {
  const { process, ended, events } = scene()
  const runs = process(['Hi.'])
  const { run } = await runs.start({ principal, input: 'x' })
  await ended(runs, run)
  await expect.poll(() => events.length).toBe(2)
  expect(withoutRun(events)).toEqual([
    { type: 'claim', ...of, attempt: 1, takeover: false },
    { type: 'end', ...of, status: 'completed', givenUp: false },
  ])
})

it('reports a takeover', async () => {
  const { process, ended, events, clock, ops } = scene()
  const lost = process([call, { stall: true }], { own: manualClock() })
  const { run } = await lost.start({ principal, sessionId: 'chat', input: 'x' })
  await expect.poll(async () => (await ops.show(run)).timeline.length, { timeout: 15_000 }).toBe(5)
  const next = process(['Done.'])
  await clock.advance(1500)
  await next.recover()
  await ended(next, run)
  expect(events.filter(({ type }) => type === 'claim')).toMatchObject([
    { takeover: false },
    { takeover: true, attempt: 1 },
  ])
})

it('does not report the retry of a dead letter as a takeover', async () => {
  const { process, ended, events, clock, ops } = scene()
  const lost = process([call, { stall: true }], { own: manualClock() })
  const { run } = await lost.start({ principal, sessionId: 'chat', input: 'x' })
  await expect.poll(async () => (await ops.show(run)).timeline.length, { timeout: 15_000 }).toBe(5)
  const other = process([], { toolName: 'refund' })
  await clock.advance(1500)
  await other.recover()
  await ended(other, run)
  await other.drain()
  expect(await ops.retry(run)).toEqual({ queued: true })
  const fixed = process(['Done.'])
  await fixed.recover()
  await ended(fixed, run)
  expect(events).toMatchObject([
    { type: 'claim', takeover: false },
    { type: 'end', code: 'journal.diverged', givenUp: true },
    { type: 'claim', takeover: false },
    { type: 'end', status: 'completed' },
  ])
})

it('counts dead letters by code, and repeated steps', async () => {
  const { process, ended, metrics, clock, store } = scene()
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }
  await store.runs.add({ run: 'r', key, agent: 'support', version: '1', task: { input: 'x', principal } })
  for (let attempt = 0; attempt < 2; attempt++) {
    await store.runs.claim({ agents: [{ name: 'support', version: '1' }], limit: 1, ms: 1, alone: true })
    await clock.advance(10)
  }
  const runs = process([], { attempts: 2 })
  await runs.recover()
  await ended(runs, 'r')
  await expect
    .poll(() => metrics.prometheus())
    .toContain('allium_durable_dead_letters_total{agent="support",version="1",code="run.attempts"} 1\n')
})

it('counts a start that repeats a step', async () => {
  const { process, ended, metrics, clock, store } = scene()
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }
  await store.runs.add({ run: 'r', key, agent: 'support', version: '1', task: { input: 'x', principal } })
  await store.runs.claim({ agents: [{ name: 'support', version: '1' }], limit: 1, ms: 1, alone: true })
  await clock.advance(10)
  const runs = process(['Hi.'])
  await runs.recover()
  await ended(runs, 'r')
  const text = await metrics.prometheus()
  for (const name of ['claims', 'takeovers', 'step_retries'])
    expect(text).toContain(`allium_durable_${name}_total{agent="support",version="1"} 1\n`)
})

it('measures the open runs of all processes, and the age of the oldest', async () => {
  const { metrics, clock, store } = scene()
  for (const [i, version] of ['1', '1', 'a"\n\\'].entries()) {
    const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: `s${i}` }
    await store.runs.add({ run: `r${i}`, key, agent: 'support', version, task: {} })
    await clock.advance(2000)
  }
  const text = await metrics.prometheus()
  expect(text).toContain('allium_durable_runs{status="queued",agent="support",version="1",queue="default"} 2\n')
  expect(text).toContain(
    'allium_durable_oldest_seconds{status="queued",agent="support",version="1",queue="default"} 6\n',
  )
  expect(text).toContain('version="a\\"\\n\\\\",queue="default"} 1\n')
  expect(text).not.toMatch(/acme|ann/)
})

it('keeps the counters if the store is down, and reports that', async () => {
  const { metrics, events } = scene({ operations: { summary: () => Promise.reject(new Error('down')) } })
  metrics.onEvent({ type: 'expire', status: 'failed', count: 3 })
  const text = await metrics.prometheus()
  expect(text).toContain('allium_durable_expired_total{status="failed"} 3\n')
  expect(text).toContain('allium_durable_store_up 0\n')
  expect([text.includes('allium_durable_runs{'), events]).toEqual([false, []])
})

it('records the same to OpenTelemetry', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 })
  const meter = new MeterProvider({ readers: [reader] }).getMeter('test')
  const { store } = scene()
  const measured = durableMetrics({ meter, operations: operations({ store }) })
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 's' }
  await store.runs.add({ run: 'r', key, agent: 'support', version: '1', task: {} })
  measured.onEvent({ ...of, run: 'r', type: 'end', status: 'failed', code: 'run.version', givenUp: true })
  await reader.forceFlush()
  const points = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    .map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints[0]?.attributes])
  expect(points).toContainEqual([
    'allium.durable.dead_letters',
    { agent: 'support', version: '1', code: 'run.version' },
  ])
  expect(points).toContainEqual([
    'allium.durable.runs',
    { status: 'queued', agent: 'support', version: '1', queue: 'default' },
  ])
  await reader.shutdown()
})

it('deletes ended runs by the retention of their status, and reports how many', async () => {
  const { process, ended, events, clock, store } = scene()
  const retention = { completed: 60_000, failed: 600_000 }
  const runs = process(['Hi.'], { retention })
  const { run } = await runs.start({ principal, sessionId: 'done', input: 'x' })
  await ended(runs, run)
  const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'failing' }
  const { lease } = await store.runs.add({ run: 'f', key, agent: 'other', version: '', task: {} }, { claim: 1000 })
  if (lease === undefined) return expect.fail('It was not claimed.')
  await store.runs.giveUp(lease, 'f', { status: 'failed', code: 'run.failed', reason: 'no' })
  await store.runs.markReported(lease, 'f')
  await clock.advance(120_000)
  await runs.recover()
  expect(events.filter(({ type }) => type === 'expire')).toEqual([{ type: 'expire', status: 'completed', count: 1 }])
  await clock.advance(600_000)
  await runs.recover()
  expect(events.at(-1)).toEqual({ type: 'expire', status: 'failed', count: 1 })
})

it.each([{ completed: 0 }, { failed: -1 }, { lost: 5 }, 0, 'a week'])('rejects the retention %j', (retention) => {
  const { process } = scene()
  expect(() => process([], { retention: retention as never })).toThrow(
    expect.objectContaining({ code: 'agent.options' }),
  )
})

it('runs on if onEvent throws', async () => {
  const { process, ended } = scene()
  const onEvent = () => {
    throw new Error('The meter is broken.')
  }
  const runs = process(['Hi.'], { onEvent })
  const { run } = await runs.start({ principal, input: 'x' })
  await ended(runs, run)
  expect((await runs.get(run, { principal })).text).toBe('Hi.')
})
