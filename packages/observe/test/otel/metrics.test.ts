import type { Middleware } from '@allium/core'
import { manualClock } from '@allium/testing'
import { metrics as api } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import * as semconv from '@opentelemetry/semantic-conventions/incubating'
import { describe, expect, it } from 'vitest'
import { metrics } from '../../src/otel.ts'
import { calling, scene, tool } from '../scene.ts'

/** The real SDK, with metrics in memory. */
function memoryMetrics() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] })
  const points = async (name: string) => {
    await provider.forceFlush()
    const all =
      exporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
    await provider.shutdown()
    const of = (name: string) => all.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
    return of(name).map(({ attributes, value }) => [
      attributes,
      (value as { sum: number }).sum,
      (value as { count: number }).count,
    ])
  }
  return { meter: provider.getMeter('test'), provider, points }
}

describe('observe metrics', () => {
  const model = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'scripted', 'gen_ai.request.model': 'model' }
  const answered = { ...model, 'gen_ai.response.model': 'model' }

  function measured(options: { fails?: boolean; layers?: Middleware[] } = {}) {
    const clock = manualClock()
    const memory = memoryMetrics()
    const slow = (reply: unknown, ms: number) => async () => {
      await clock.advance(ms)
      return reply as string
    }
    const work = tool('work', () =>
      clock.advance(500).then(() => (options.fails ? Promise.reject(new TypeError('x')) : 'ok')),
    )
    const steps = [slow(calling(['work']), 1000), slow('Done.', 2000)]
    return {
      ...memory,
      ...scene(steps, [metrics({ meter: memory.meter }), ...(options.layers ?? [])], {
        name: 'desk',
        clock,
        tools: [work],
      }),
    }
  }

  it('measures model calls in seconds', async () => {
    const { agent, points } = measured()
    await agent.run('go')
    expect(await points('gen_ai.client.operation.duration')).toEqual([[answered, 3, 2]])
  })

  it('counts tokens by their kind', async () => {
    const { agent, points } = measured()
    await agent.run('go')
    expect(await points('gen_ai.client.token.usage')).toEqual([
      [{ ...answered, 'gen_ai.token.type': 'input' }, 20, 2],
      [{ ...answered, 'gen_ai.token.type': 'output' }, 10, 2],
    ])
  })

  it('measures the time to the first chunk, where one came', async () => {
    const { agent, points } = measured()
    await agent.run('go')
    expect(await points('gen_ai.client.operation.time_to_first_chunk')).toEqual([[answered, 3, 2]])
    const failed = memoryMetrics()
    await expect(scene([new Error('down')], [metrics({ meter: failed.meter })]).agent.run('go')).rejects.toThrow('down')
    expect(await failed.points('gen_ai.client.operation.time_to_first_chunk')).toEqual([])
  })

  it('measures turns and tools', async () => {
    const { agent, points } = measured()
    await agent.run('go')
    expect(await points('gen_ai.invoke_agent.duration')).toEqual([
      [{ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'desk', 'allium.status': 'completed' }, 3.5, 1],
    ])
    const tools = measured({ fails: true })
    await tools.agent.run('go')
    expect(await tools.points('gen_ai.execute_tool.duration')).toEqual([
      [{ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'work', 'error.type': 'TypeError' }, 0.5, 1],
    ])
  })

  it('measures each attempt, failed ones by their kind of error', async () => {
    const memory = memoryMetrics()
    const retrying: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    await scene([new RangeError('503'), 'hi'], [metrics({ meter: memory.meter }), retrying]).agent.run('go')
    expect(await memory.points('gen_ai.client.operation.duration')).toEqual([
      [{ ...model, 'error.type': 'RangeError' }, 0, 1],
      [answered, 0, 1],
    ])
  })

  it('measures no tool that did not run', async () => {
    const policy: Middleware = { name: 'policy', innermost: true, tool: (ctx) => ctx.deny('no') }
    const { agent, points } = measured({ layers: [policy] })
    await agent.run('go')
    expect(await points('gen_ai.execute_tool.duration')).toEqual([])
  })

  it('tells no tenant, user or session, and no name that a model made up', async () => {
    const memory = memoryMetrics()
    const { agent } = scene([calling(['made-up']), 'ok'], [metrics({ meter: memory.meter })])
    await agent
      .session({ id: 'secret-session', principal: { tenantId: 'secret-acme', userId: 'secret-ada' } })
      .run('go')
    const seen = JSON.stringify(await memory.points('gen_ai.execute_tool.duration'))
    expect(seen).toContain('(unknown)')
    expect(seen).not.toMatch(/secret|made-up/)
  })

  it('uses the names of the conventions', () => {
    const {
      METRIC_GEN_AI_CLIENT_OPERATION_DURATION: duration,
      METRIC_GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK: firstChunk,
      METRIC_GEN_AI_CLIENT_TOKEN_USAGE: tokens,
    } = semconv
    expect([duration, firstChunk, tokens]).toEqual([
      'gen_ai.client.operation.duration',
      'gen_ai.client.operation.time_to_first_chunk',
      'gen_ai.client.token.usage',
    ])
  })

  it('takes the meters that the application registers later, and lets the run through without any', async () => {
    const memory = memoryMetrics()
    const { agent } = scene(['hi', 'hi'], [metrics()])
    api.setGlobalMeterProvider(memory.provider)
    await agent.run('go').finally(() => api.disable())
    expect(await memory.points('gen_ai.client.operation.duration')).toHaveLength(1)
    expect((await scene(['hi'], [metrics()]).agent.run('go')).text).toBe('hi')
  })

  it('streams as if it were not there', async () => {
    const types = async (layers: Middleware[]) => {
      const seen: string[] = []
      for await (const { type } of scene([{ reasoning: 'hm', text: 'a b c' }], layers).agent.run('go')) seen.push(type)
      return seen
    }
    expect(await types([metrics({ meter: memoryMetrics().meter })])).toEqual(await types([]))
  })

  it('lets the run through where the meter fails', async () => {
    const broken = { createHistogram: () => expect.fail('no meter') } as never
    const { agent } = scene([calling(['work']), 'ok'], [metrics({ meter: broken })], { tools: [tool('work')] })
    expect((await agent.run('go')).text).toBe('ok')
    await expect(scene([new Error('x')], [metrics({ meter: broken })]).agent.run('go')).rejects.toThrow('x')
  })
})
