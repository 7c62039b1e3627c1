import { delegate, type Middleware, type ModelChunk, noUsage, type ToolExecution } from '@allium/core'
import { leaks, manualClock, type ScriptedStep } from '@allium/testing'
import { trace as api, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import { leaves, lingers } from '../../../testing/test/late.ts'
import { modelValues } from '../../src/otel/call-values.ts'
import { type TraceOptions, trace } from '../../src/otel.ts'
import { calling, decide, scene, tool } from '../scene.ts'
import { memoryTracing, withContextManager } from './tracing.ts'

const retrying: Middleware = {
  name: 'retry',
  async model(_, next) {
    for (;;)
      try {
        return await next()
      } catch {}
  },
}

function traced(
  options: TraceOptions = {},
  {
    steps = [calling(['look', { id: 7 }]), 'Found.'] as ScriptedStep[],
    layers = [] as Middleware[],
    tools = [tool('look')],
  } = {},
) {
  const tracing = memoryTracing()
  const made = scene(steps, [trace({ tracer: tracing.tracer, ...options }), ...layers], { name: 'desk', tools })
  return { ...made, ...tracing, session: made.agent.session({ id: 's', principal: { tenant: 'acme', userId: 'ada' } }) }
}

/** An agent whose tools are agents. */
function nested(tools: string[], { tracer }: Pick<ReturnType<typeof memoryTracing>, 'tracer'>) {
  const asks = (name: string, inner: ReturnType<typeof scene>['agent']) => ({
    ...tool(name),
    execute: async (_: unknown, ctx: ToolExecution) => (await delegate(ctx, inner, name))?.text,
  })
  const made = tools.map((name) => {
    const { agent: digger } = scene([calling(['dig']), 'Dug.'], [], { name: `${name}-digger`, tools: [tool('dig')] })
    const { agent } = scene([calling(['deeper']), 'Found.'], [], {
      name: `${name}-agent`,
      tools: [asks('deeper', digger)],
    })
    return asks(name, agent)
  })
  return scene([calling(...tools.map((name): [string] => [name])), 'Done.'], [trace({ tracer })], {
    name: 'desk',
    tools: made,
  })
}

const oneSubAgent = `invoke_agent desk
  chat model
  execute_tool research
    invoke_agent research-agent
      chat model
      execute_tool deeper
        invoke_agent research-digger
          chat model
          execute_tool dig
          chat model
      chat model
  chat model`

describe('observe trace', () => {
  it.each([
    ['moonshotai/kimi-k2', 'moonshot_ai'],
    ['xai/grok-4', 'x_ai'],
    ['google/gemini-3-pro', 'gcp.gemini'],
    ['amazon-bedrock/nova', 'aws.bedrock'],
    ['anthropic/claude-sonnet-4-6', 'anthropic'],
  ])('names the provider of %s as the conventions do', (id, name) => {
    expect(modelValues(id).provider).toBe(name)
  })

  it('makes a span for the turn, with one for each model call and tool call inside', async () => {
    const { session, tree, spans } = traced()
    await session.run('go')
    expect(tree()).toBe('invoke_agent desk\n  chat model\n  execute_tool look\n  chat model')
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1)
  })

  it('tells agent, conversation, model, usage and tenant of a turn', async () => {
    const { session, named } = traced()
    const { turnId } = await session.run('go')
    const { kind, attributes } = named('invoke_agent desk')
    expect(kind).toBe(SpanKind.INTERNAL)
    expect(attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'desk',
      'gen_ai.request.model': 'model',
      'gen_ai.conversation.id': 's',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 10,
      'allium.turn.id': turnId,
      'allium.tenant': 'acme',
      'allium.status': 'completed',
    })
  })

  it('tells settings, usage and why it ended of a model call', async () => {
    const usage = { inputTokens: 9, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 2 }
    const { session, named } = traced({}, { steps: [{ text: 'hi', usage, finishReason: 'length' }] })
    await session.run('go', { settings: { temperature: 0.5, maxOutputTokens: 99, stop: ['END'], seed: 1, topP: 0.9 } })
    const { kind, attributes } = named('chat model')
    expect(kind).toBe(SpanKind.CLIENT)
    expect(attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'model',
      'gen_ai.conversation.id': 's',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.request.max_tokens': 99,
      'gen_ai.request.seed': 1,
      'gen_ai.request.stop_sequences': ['END'],
      'gen_ai.request.stream': true,
      'gen_ai.response.model': 'model',
      'gen_ai.response.finish_reasons': ['length'],
      'gen_ai.response.time_to_first_chunk': 0,
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 4,
      'gen_ai.usage.reasoning.output_tokens': 2,
    })
  })

  it('tells the id of the answer, and where the call went, of one that failed too', async () => {
    const server = { address: 'llm.example.com', port: 8443 }
    const finish: ModelChunk = { type: 'finish', reason: 'stop', usage: noUsage(), responseId: 'resp_1' }
    const answers = async function* () {
      yield finish
    }
    const fails = async function* () {
      yield { type: 'text-delta', delta: 'Hel' } as const
      throw new Error('cut')
    }
    for (const stream of [answers, fails]) {
      const { session, named } = traced()
      await session.run('go', { model: { id: 'acme/m1', server, stream } }).settled()
      const told = { 'server.address': 'llm.example.com', 'server.port': 8443 }
      expect(named('chat m1').attributes).toMatchObject(
        stream === answers ? { ...told, 'gen_ai.response.id': 'resp_1' } : told,
      )
    }
  })

  it('tells name, id and outcome of a tool call', async () => {
    const { session, named } = traced()
    await session.run('go')
    const { kind, attributes } = named('execute_tool look')
    expect(kind).toBe(SpanKind.INTERNAL)
    expect(attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.agent.name': 'desk',
      'gen_ai.conversation.id': 's',
      'gen_ai.tool.name': 'look',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'call-1',
      'gen_ai.tool.description': 'The tool look',
      'allium.status': 'ok',
    })
  })

  it('makes a span for each attempt of a retry, side by side', async () => {
    const { session, tree, spans } = traced({}, { steps: [new RangeError('503'), 'hi'], layers: [retrying] })
    await session.run('go')
    expect(tree()).toBe('invoke_agent desk\n  chat model\n  chat model')
    expect(
      spans().map(({ status, attributes }) => [status.code, attributes['error.type'], attributes['allium.attempt']]),
    ).toEqual([
      [SpanStatusCode.ERROR, 'RangeError', undefined],
      [SpanStatusCode.UNSET, undefined, 2],
      [SpanStatusCode.UNSET, undefined, undefined],
    ])
  })

  it('tells what failed on each span that it ended, and throws it on as it is', async () => {
    const error = new RangeError('overloaded')
    const { session, named } = traced({}, { steps: [error] })
    await expect(session.run('go')).rejects.toBe(error)
    for (const name of ['chat model', 'invoke_agent desk'])
      expect(named(name)).toMatchObject({
        status: { code: SpanStatusCode.ERROR },
        attributes: { 'error.type': 'RangeError' },
      })
  })

  it('tells of a tool that failed, and of a name that the model made up', async () => {
    const breaks = tool('breaks', () => {
      throw new TypeError('disk full')
    })
    const { session, named } = traced({}, { steps: [calling(['breaks'], ['made-up']), 'ok'], tools: [breaks] })
    await session.run('go')
    expect(named('execute_tool breaks')).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'TypeError' },
    })
    expect(named('execute_tool (unknown)').attributes['error.type']).toBe('tool_error')
  })

  it.each([
    ['blocked', { name: 'x', innermost: true, model: (ctx) => ctx.block('spicy') } satisfies Middleware],
    ['aborted', { name: 'x', innermost: true, model: (ctx) => ctx.abort('left') } satisfies Middleware],
  ] as [string, Middleware][])('tells of a turn that was %s, which is no error', async (status, layer) => {
    const { session, named } = traced({}, { layers: [layer] })
    await session.run('go').settled()
    for (const name of ['chat model', 'invoke_agent desk'])
      expect(named(name)).toMatchObject({
        status: { code: SpanStatusCode.UNSET },
        attributes: { 'allium.status': status },
      })
  })

  it('records what is said only when it is told to', async () => {
    const steps = () => [calling(['look', { id: 'secret-7' }]), 'secret-answer']
    const tools = [tool('look', () => 'secret-result')]
    const quiet = traced({}, { steps: steps(), tools })
    await quiet.session.run('secret-input')
    const failing = traced({}, { steps: [new Error('secret-error')] })
    await failing.session.run('secret-input').settled()
    const seen = (all: ReturnType<typeof quiet.spans>) =>
      all.map(({ attributes, status, events }) => ({ attributes, status, events }))
    expect(leaks([seen(quiet.spans()), seen(failing.spans())], 'secret-')).toEqual([])

    const { session, spans } = traced({ content: true }, { steps: steps(), tools })
    await session.run('secret-input')
    const [, look, chat] = spans()
    expect(JSON.parse(String(chat?.attributes['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'secret-input' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'call-1', name: 'look', arguments: { id: 'secret-7' } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call-1', response: 'secret-result' }] },
    ])
    expect(JSON.parse(String(chat?.attributes['gen_ai.output.messages']))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'secret-answer' }], finish_reason: 'stop' },
    ])
    expect(look?.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"id":"secret-7"}',
      'gen_ai.tool.call.result': 'secret-result',
    })
  })

  it('nests sub-agents, without a context manager too', async () => {
    const tracing = memoryTracing()
    await nested(['research'], tracing).agent.run('go')
    expect(tracing.tree()).toBe(oneSubAgent)
  })

  it('nests a sub-agent below the call that runs it, while one that was left still comes back', async () => {
    const tracing = memoryTracing()
    const clock = manualClock()
    const { agent: helper } = scene(['Found.'], [], { name: 'helper' })
    let calls = 0
    const research = tool('research', () => {})
    research.execute = async (_: unknown, ctx: ToolExecution) =>
      calls++ === 0 ? new Promise(() => {}) : (await delegate(ctx, helper, 'find'))?.text
    const { tool: leave } = leaves(50)
    const { tool: linger } = lingers(20)
    const late = { name: 'lingers', innermost: true, tool: linger } as Middleware
    const layers = [{ name: 'leaves', tool: leave } as Middleware, trace({ tracer: tracing.tracer }), late]
    const run = scene([calling(['research']), 'Done.'], layers, { clock, tools: [research] }).agent.run('go')
    for (let i = 0; i < 20; i++) await clock.advance(10)
    await run
    expect(tracing.tree()).toBe(`invoke_agent agent
  chat model
  execute_tool research
  execute_tool research
    invoke_agent helper
      chat model
  chat model`)
  })

  it.each([
    ['with a context manager', withContextManager],
    ['without one', (work: () => Promise<unknown>) => work()],
  ])('nests sub-agents that run side by side below their tools, %s', async (_, run) => {
    const tracing = memoryTracing()
    await run(async () => nested(['one', 'two'], tracing).agent.run('go'))
    for (const name of ['one', 'two']) {
      const inner = tracing.named(`invoke_agent ${name}-agent`).parentSpanContext?.spanId
      expect(inner).toBe(tracing.named(`execute_tool ${name}`).spanContext().spanId)
    }
  })

  it('is the parent of what providers and tools trace, and the child of what calls the agent', async () => {
    const tracing = memoryTracing()
    const { tracer } = tracing
    const fetches = (name: string) => tracer.startSpan(name).end()
    const step = async () => {
      await Promise.resolve()
      fetches('POST /chat')
      return calling(['look']) as string
    }
    const look = tool('look', async () => {
      await Promise.resolve()
      fetches('GET /orders')
      return 'found'
    })
    const { agent } = scene([step, 'ok'], [trace({ tracer })], { name: 'desk', tools: [look] })
    await withContextManager(() =>
      tracer.startActiveSpan('POST /support', async (span) => {
        await agent.run('go')
        span.end()
      }),
    )
    expect(tracing.tree()).toBe(`POST /support
  invoke_agent desk
    chat model
      POST /chat
    execute_tool look
      GET /orders
    chat model`)
  })

  it('traces a run that waits, and the one that goes on, each as its own turn', async () => {
    const pay = tool('pay', undefined, { requireApproval: true })
    const { session, spans } = traced({}, { steps: [calling(['pay']), 'ok'], tools: [pay] })
    await session.run('go')
    await decide(session, { approve: true })
    expect(spans().map(({ name, attributes }) => [name, attributes['allium.status']])).toEqual([
      ['chat model', undefined],
      ['execute_tool pay', 'suspended'],
      ['invoke_agent desk', 'suspended'],
      ['execute_tool pay', 'ok'],
      ['chat model', undefined],
      ['invoke_agent desk', 'completed'],
    ])
  })

  it('keeps turns apart that run at once', async () => {
    const tracing = memoryTracing()
    const { agent } = scene(
      Array.from({ length: 20 }, () => 'hi'),
      [trace({ tracer: tracing.tracer })],
      { name: 'desk' },
    )
    await Promise.all(Array.from({ length: 20 }, () => agent.session({ id: 'same' }).run('go')))
    expect(tracing.spans()).toHaveLength(40)
    expect(new Set(tracing.spans().map((span) => span.spanContext().traceId)).size).toBe(20)
  })

  it('adds attributes of the application, and goes on without them where they fail', async () => {
    const { session, spans } = traced({ attributes: ({ sessionId }) => ({ plan: `gold-${sessionId}` }) })
    await session.run('go')
    expect(spans().every(({ attributes }) => attributes.plan === 'gold-s')).toBe(true)
    const broken = traced({ attributes: () => expect.fail('no') })
    await broken.session.run('go')
    expect(broken.spans()).toHaveLength(4)
  })

  it('lets the run through where the tracer fails, or is not there', async () => {
    const broken = { startSpan: () => expect.fail('no tracer') } as never
    for (const layer of [trace({ tracer: broken }), trace()]) {
      const { agent } = scene([calling(['look']), 'Found.'], [layer], { tools: [tool('look')] })
      expect((await agent.run('go')).text).toBe('Found.')
    }
  })

  it('lets the run through where every call of a span fails', async () => {
    const { tracer } = memoryTracing()
    const hostile = {
      startSpan(...args: Parameters<typeof tracer.startSpan>) {
        const span = tracer.startSpan(...args)
        const fails = () => expect.fail('no span')
        return Object.assign(Object.create(span), {
          setAttribute: fails,
          setAttributes: fails,
          setStatus: fails,
          end: fails,
        })
      },
    } as never
    const { agent } = scene([calling(['look']), 'Found.'], [trace({ tracer: hostile })], { tools: [tool('look')] })
    expect((await agent.run('go')).text).toBe('Found.')
  })

  it('takes the tracer that the application registers later', async () => {
    const { provider, spans } = memoryTracing()
    const { agent } = scene(['hi'], [trace()])
    api.setGlobalTracerProvider(provider)
    await agent.run('go').finally(() => api.disable())
    expect(spans()).toHaveLength(2)
  })

  it('streams as if it were not there', async () => {
    const deltas: unknown[] = []
    const { session } = traced({}, { steps: ['a b c'] })
    for await (const event of session.run('go')) if (event.type === 'text-delta') deltas.push(event.delta)
    expect(deltas).toEqual(['a', ' b', ' c'])
  })
})
