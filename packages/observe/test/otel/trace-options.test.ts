import { delegate, type ToolExecution } from '@allium/core'
import type { ScriptedStep } from '@allium/testing'
import { expect, it } from 'vitest'
import { recordEvaluation, type TraceOptions, trace } from '../../src/otel.ts'
import { calling, type Layer, scene, tool } from '../scene.ts'
import type { EmittedEvent } from './emitted.ts'
import { memoryTracing } from './tracing.ts'

/** A run of an agent whose tool `research` is the agent `helper`. */
async function traced(options: TraceOptions, steps: ScriptedStep[] = [calling(['research']), 'Done.']) {
  const { tracer, named, spans } = memoryTracing()
  const { agent: helper } = scene(['Found.'], [], { name: 'helper' })
  const research = tool('research')
  research.execute = async (_: unknown, ctx: ToolExecution) => (await delegate(ctx, helper, 'find'))?.text
  const layer = trace({ tracer, ...options }) as Layer
  const { agent } = scene(steps, [layer], { name: 'desk', instructions: 'Be brief.', tools: [research] })
  await agent
    .session({ id: 's-1', principal: { tenantId: 'acme', userId: 'ada' } })
    .run('Hello')
    .settled()
  return { named, spans }
}

it('tells on the span of a turn the input of its first model call and the answer of its last, with content', async () => {
  const { attributes } = (await traced({ content: true })).named('invoke_agent desk')
  expect(JSON.parse(String(attributes['gen_ai.input.messages']))).toEqual([
    { role: 'user', parts: [{ type: 'text', content: 'Hello' }] },
  ])
  expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toEqual([
    { role: 'assistant', parts: [{ type: 'text', content: 'Done.' }], finish_reason: 'stop' },
  ])
  expect(attributes['gen_ai.system_instructions']).toBe('[{"type":"text","content":"Be brief."}]')
})

it('tells the user and the session on every span, those of the root for a sub-agent, where it is told to', async () => {
  const { spans } = await traced({ identity: true })
  const told = spans().map(({ attributes }) => [attributes['user.id'], attributes['session.id']])
  expect(new Set(told.map(String))).toEqual(new Set(['ada,s-1']))
  for (const { attributes } of (await traced({})).spans()) expect(Object.keys(attributes)).not.toContain('user.id')
})

it('tells the cost of model calls, and of turns with their sub-agents, where it is told to', async () => {
  const { named } = await traced({ cost: { prices: { 'scripted/*': { input: 1_000_000, output: 0 } } } })
  expect(named('chat model').attributes['allium.usage.cost']).toBe(10)
  expect(named('invoke_agent helper').attributes['allium.usage.cost']).toBe(10)
  expect(named('invoke_agent desk').attributes['allium.usage.cost']).toBe(30)
})

it('tells no cost of a turn with a call whose price is unknown, and takes the name of the attribute', async () => {
  const { named } = await traced({ cost: { prices: () => undefined, attribute: 'my.cost' } })
  expect(Object.keys(named('invoke_agent desk').attributes)).not.toContain('my.cost')
  const { named: priced } = await traced({ cost: { prices: () => 2, attribute: 'my.cost' } })
  expect(priced('invoke_agent desk').attributes['my.cost']).toBe(6)
})

it('tells the definitions of tools where it is told to', async () => {
  const { attributes } = (await traced({ toolDefinitions: true })).named('chat model')
  expect(JSON.parse(String(attributes['gen_ai.tool.definitions']))).toEqual([
    { type: 'function', name: 'research', description: 'The tool research', parameters: { type: 'object' } },
  ])
})

it('sends an event for a failed model call, in the context of its span, without the message unless content is on', async () => {
  for (const content of [false, true]) {
    const events: EmittedEvent[] = []
    const emit = (event: EmittedEvent) => void events.push(event)
    const { named } = await traced({ content, eventLogger: { emit } }, [new RangeError('secret')])
    expect(events).toMatchObject([
      {
        eventName: 'gen_ai.client.operation.exception',
        severityText: 'WARN',
        attributes: { 'exception.type': 'RangeError', ...(content && { 'exception.message': 'secret' }) },
      },
    ])
    expect(JSON.stringify(events).includes('secret')).toBe(content)
    expect(named('chat model').attributes['gen_ai.response.finish_reasons']).toEqual(['error'])
  }
})

it('has the request settings and the last finish reason on the span of a turn', async () => {
  const { tracer, named } = memoryTracing()
  const { agent } = scene([{ text: 'Hi', finishReason: 'length' }], [trace({ tracer })], {
    settings: { temperature: 0.5 },
  })
  await agent.run('go')
  expect(named('invoke_agent agent').attributes).toMatchObject({
    'gen_ai.request.temperature': 0.5,
    'gen_ai.response.finish_reasons': ['length'],
  })
})

it('refuses names that it does not know', () => {
  expect(() => trace({ names: '1.44' as never })).toThrow('"observe:trace"')
})

it('refuses an option of costs and of evaluations that it does not have', () => {
  expect(() => trace({ cost: { price: {} } as never })).toThrow('price')
  expect(() => recordEvaluation({ emit() {} }, { name: 'x', value: 1 } as never)).toThrow('value')
})
