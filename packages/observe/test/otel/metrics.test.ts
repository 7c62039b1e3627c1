import { delegate, type Middleware, noUsage, type ToolExecution } from '@allium/core'
import { tellObservers } from '@allium/core/internal'
import { manualClock } from '@allium/testing'
import { metrics as api } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import { metrics } from '../../src/otel.ts'
import { calling, scene, tool } from '../scene.ts'
import { memoryMetrics } from './measuring.ts'

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
    expect(await points('gen_ai.client.inference.duration')).toEqual([[answered, 3, 2]])
  })

  it('counts the verdicts of rollouts by name', async () => {
    const arm = { scores: [], usersWithoutScore: 0, turns: 0, turnsWithoutScore: 0 }
    const decides: Middleware = {
      name: 'rollout:tone',
      turn(ctx, next) {
        const verdict = { rollout: 'tone', round: 1, verdict: 'stop', canary: arm, baseline: arm }
        tellObservers(ctx, { type: 'rollout:decided', ...verdict })
        return next()
      },
    }
    const { agent, points } = measured({ layers: [decides] })
    await agent.run('go')
    const about = { 'allium.rollout.name': 'tone', 'allium.rollout.verdict': 'stop' }
    expect(await points('allium.rollout.decisions')).toEqual([[about, 1]])
  })

  it('counts tokens by their kind, in total and by call', async () => {
    const { agent, points } = measured()
    await agent.run('go')
    const counted = { ...answered, 'gen_ai.token.modality': 'unknown' }
    expect(await points('gen_ai.client.inference.usage.input_tokens')).toEqual([[counted, 20]])
    const other = measured()
    await other.agent.run('go')
    expect(await other.points('gen_ai.client.inference.operation.output_tokens')).toEqual([[answered, 10, 2]])
  })

  it.each(['usage.input_tokens', 'usage.output_tokens', 'usage.cache_read.input_tokens', 'operation.input_tokens'])(
    'records 0 as %s of a failed call',
    async (name) => {
      const { meter, points } = memoryMetrics()
      await expect(scene([new RangeError('down')], [metrics({ meter })]).agent.run('go')).rejects.toThrow('down')
      const [[attributes, total] = []] = await points(`gen_ai.client.inference.${name}`)
      expect([attributes, total]).toEqual([expect.objectContaining(model), 0])
    },
  )

  it('measures the time of each chunk after the first', async () => {
    const clock = manualClock()
    const { meter, points } = memoryMetrics()
    const stream = async function* () {
      for (const delta of ['a', 'b', 'c']) {
        await clock.advance(100)
        yield { type: 'text-delta', delta } as const
      }
      yield { type: 'finish', reason: 'stop', usage: noUsage() } as const
    }
    const { agent } = scene([], [metrics({ meter })], { clock, model: { id: 'scripted/model', stream } })
    await agent.run('go')
    expect(await points('gen_ai.client.inference.time_per_output_chunk')).toEqual([[answered, 0.2, 2]])
  })

  it('measures the time to the first chunk, where one came', async () => {
    const { agent, points } = measured()
    await agent.run('go')
    expect(await points('gen_ai.client.inference.time_to_first_chunk')).toEqual([[answered, 3, 2]])
    const failed = memoryMetrics()
    await expect(scene([new Error('down')], [metrics({ meter: failed.meter })]).agent.run('go')).rejects.toThrow('down')
    expect(await failed.points('gen_ai.client.inference.time_to_first_chunk')).toEqual([])
  })

  it('measures turns and tools', async () => {
    const { agent, points } = measured()
    await agent.run('go')
    const turn = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'desk', 'allium.status': 'completed' }
    expect(await points('gen_ai.invocation.duration')).toEqual([
      [{ ...turn, 'gen_ai.invocation.is_nested': false }, 3.5, 1],
    ])
    const tools = measured({ fails: true })
    await tools.agent.run('go')
    const call = { 'gen_ai.tool.name': 'work', 'gen_ai.tool.type': 'function', 'gen_ai.agent.name': 'desk' }
    expect(await tools.points('gen_ai.execute_tool.duration')).toEqual([
      [{ ...call, 'error.type': 'TypeError' }, 0.5, 1],
    ])
  })

  it('counts the model calls and tool calls of each agent, without those of its sub-agents', async () => {
    const { meter, all } = memoryMetrics()
    const { agent: helper } = scene([calling(['look']), 'Found.'], [], { name: 'helper', tools: [tool('look')] })
    const research = tool('research')
    research.execute = async (_: unknown, ctx: ToolExecution) => (await delegate(ctx, helper, 'find'))?.text
    await scene([calling(['research']), 'Done.'], [metrics({ meter })], { name: 'desk', tools: [research] }).agent.run(
      'go',
    )
    const found = await all()
    const sums = (name: string) =>
      Object.fromEntries(
        (found.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []).map(({ attributes, value }) => [
          `${attributes['gen_ai.agent.name']} ${attributes['gen_ai.invocation.is_nested'] ?? ''}`.trim(),
          (value as { count: number; sum: number }).sum,
        ]),
      )
    expect(sums('gen_ai.invoke_agent.inference_calls')).toEqual({ desk: 2, helper: 2 })
    expect(sums('gen_ai.invoke_agent.tool_calls')).toEqual({ desk: 1, helper: 1 })
    expect(Object.keys(sums('gen_ai.invocation.duration')).sort()).toEqual(['desk false', 'helper true'])
  })

  it('measures each attempt, failed ones by their kind of error', async () => {
    const memory = memoryMetrics()
    const retrying: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    await scene([new RangeError('503'), 'hi'], [metrics({ meter: memory.meter }), retrying]).agent.run('go')
    expect(await memory.points('gen_ai.client.inference.duration')).toEqual([
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

  it('takes the meters that the application registers later, and lets the run through without any', async () => {
    const memory = memoryMetrics()
    const { agent } = scene(['hi', 'hi'], [metrics()])
    api.setGlobalMeterProvider(memory.provider)
    await agent.run('go').finally(() => api.disable())
    expect(await memory.points('gen_ai.client.inference.duration')).toHaveLength(1)
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
