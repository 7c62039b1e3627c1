import { Agent, defineMiddleware, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { agentTool } from '../../tools/src/agent.ts'
import { audit, log } from '../src/index.ts'
import { metrics, trace } from '../src/otel.ts'
import { memoryMetrics } from './otel/measuring.ts'
import { memoryTracing } from './otel/tracing.ts'
import { calling, type Layer, tool } from './scene.ts'

/** Two agents, one the tool of the other, each with a layer of its own. */
function family(layer: () => Layer): Agent {
  const silent = { warn() {}, error() {} }
  const helper = new Agent({
    name: 'helper',
    model: scriptedModel([calling(['look']), 'Found.']),
    tools: [tool('look')],
  }).use(layer() as Middleware)
  const model = scriptedModel([calling(['helper', { task: 'Find it' }]), 'Done.'])
  return new Agent({ name: 'desk', model, logger: silent })
    .use(layer() as Middleware)
    .use(agentTool({ agent: helper, description: 'Finds' }) as Middleware)
}

describe('a sub-agent that has the layer, too', () => {
  it('has one span for each turn and call, nested', async () => {
    const { tracer, tree, spans } = memoryTracing()
    await family(() => trace({ tracer })).run('Go')
    expect(new Set(spans().map(({ attributes }) => attributes['gen_ai.conversation.id'])).size).toBe(1)
    expect(tree()).toBe(`invoke_agent desk
  chat model
  execute_tool helper
    invoke_agent helper
      chat model
      execute_tool look
      chat model
  chat model`)
  })

  it('is measured once', async () => {
    const { meter, all } = memoryMetrics()
    await family(() => metrics({ meter })).run('Go')
    const counts = (await all()).map(({ descriptor, dataPoints }) => [
      descriptor.name,
      dataPoints.reduce((sum, { value }) => sum + (value as { count: number }).count, 0),
    ])
    expect(Object.fromEntries(counts)).toMatchObject({
      'gen_ai.client.inference.duration': 4,
      'gen_ai.execute_tool.duration': 2,
      'gen_ai.invocation.duration': 2,
    })
  })

  it('is logged once', async () => {
    const seen: string[] = []
    const write = ({ agent, event }: { agent?: string; event?: string }) => void seen.push(`${agent} ${event}`)
    const logger = { debug() {}, info: write, warn: write, error: write } as never
    await family(() => log({ logger })).run('Go')
    expect(seen.filter((line) => line.startsWith('helper'))).toEqual([
      'helper model:end',
      'helper tool:end',
      'helper model:end',
      'helper turn:end',
    ])
  })

  it('is audited once', async () => {
    const types: string[] = []
    const sink = (line: string) => {
      const { agent, type } = JSON.parse(line)
      if (agent === 'helper') types.push(type)
    }
    await family(() => audit({ sink })).run('Go')
    const call = (what: string) => [`${what}:start`, `${what}:end`]
    expect(types).toEqual([...call('model'), ...call('tool'), ...call('model')])
  })

  it('is reported by each layer that reports elsewhere', async () => {
    const exporters = [memoryTracing(), memoryTracing()]
    const tracers = exporters.map(({ tracer }) => tracer)
    await family(() => trace({ tracer: tracers.shift() as never })).run('Go')
    expect(exporters.map(({ spans }) => spans().length)).toEqual([4, 8])
  })

  it.each([
    trace(),
    metrics(),
    log({ logger: { debug() {}, info() {}, warn() {}, error() {} } }),
    audit({ sink() {} }),
  ])('is named by check(): $name', (layer) => {
    expect(family(() => layer).check()).toMatchObject([
      { severity: 'warn', layers: [layer.name], message: expect.stringContaining('A sub-agent has') },
    ])
  })

  it('is not named by check() for other layers', () => {
    const other = defineMiddleware({ name: 'other', order: { is: ['traces'] }, model: (_, next) => next() })
    expect(family(() => other).check()).toEqual([])
  })
})
