import type { Middleware } from '@allium/core'
import { memoryJournal } from '@allium/store/journal'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { expect, it } from 'vitest'
import { log } from '../../src/index.ts'
import { metrics, trace } from '../../src/otel.ts'
import { calling, scene, tool } from '../scene.ts'
import { memoryTracing } from './tracing.ts'

/** A run that is cut off once its model and its tool were recorded, and goes on in another process with these layers. */
async function goesOn(layer: Middleware): Promise<void> {
  const life = (steps: Parameters<typeof scene>[0], layers: Middleware[]) =>
    scene(steps, layers, { tools: [tool('look')] }).agent
  const journal = memoryJournal()
  const dead = journal.killAfter(3)
  void life([calling(['look'])], []).run('go', { turnId: 't', journal })
  await dead
  await life(['Found.'], [layer]).run('go', { turnId: 't', journal: journal.reopen() })
}

it('marks in the log what is told again', async () => {
  const told: string[] = []
  const write = ({ event, replayed }: { event?: string; replayed?: boolean }) =>
    void told.push(`${event}${replayed === true ? ' again' : ''}`)
  await goesOn(log({ logger: { debug: write, info: write, warn: write, error: write } as never }) as Middleware)
  expect(told).toEqual([
    'turn:start again',
    'model:start again',
    'model:end again',
    'tool:start again',
    'tool:end again',
    'model:start again', // nobody knows yet
    'model:end',
    'turn:end',
  ])
})

it('marks the spans of what is told again', async () => {
  const { tracer, spans } = memoryTracing()
  await goesOn(trace({ tracer }) as Middleware)
  const marked = spans().map(({ name, attributes }) => [name, attributes['allium.replayed'] === true])
  expect(marked).toEqual([
    ['chat model', true],
    ['execute_tool look', true],
    ['chat model', false],
    ['invoke_agent agent', false],
  ])
})

it('measures what happens here, and nothing that is replayed', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] })
  await goesOn(metrics({ meter: provider.getMeter('test') }) as Middleware)
  await provider.forceFlush()
  const all = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
  await provider.shutdown()
  const counts = all.map(({ descriptor, dataPoints }) => [
    descriptor.name,
    dataPoints.reduce((sum, { value }) => sum + (value as { count: number }).count, 0),
  ])
  expect(Object.fromEntries(counts)).toMatchObject({
    'gen_ai.client.inference.duration': 1,
    'gen_ai.client.inference.operation.input_tokens': 1,
    'gen_ai.invocation.duration': 1,
  })
  expect(counts.map(([name]) => name)).not.toContain('gen_ai.execute_tool.duration')
})
