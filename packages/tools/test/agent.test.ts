import { Agent, type Middleware } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AgentToolOptions, agentTool } from '../src/agent.ts'

const ask = (args: object = { task: 'Find it' }): ScriptedStep => ({
  toolCalls: [{ name: 'researcher', callId: 'c1', args: args as Record<string, unknown> }],
})

/** A chief whose researcher is a tool. */
function chief(
  inside: readonly ScriptedStep[],
  {
    layers = [] as Middleware[],
    options = {} as Partial<AgentToolOptions<undefined, {}>>,
    args = { task: 'Find it' } as object,
  } = {},
) {
  const model = scriptedModel(inside)
  const researcher = new Agent({ name: 'researcher', model }).use(layers)
  const agent = new Agent({ model: scriptedModel([ask(args), 'Done.']), logger: { warn() {}, error() {} } })
  agent.use(agentTool({ agent: researcher, description: 'Finds facts', ...options }))
  return { agent, researcher: model }
}
const told = async (agent: Agent) => (await agent.run('go')).toolCalls[0]?.result

describe('tools.agent', () => {
  it("hands the task on, and gives the model the other agent's answer", async () => {
    const { agent, researcher } = chief(['Found.'])
    expect(await told(agent)).toMatchObject({ content: 'Found.', status: 'ok' })
    expect(researcher.requests[0]?.messages).toEqual([{ role: 'user', content: 'Find it' }])
  })

  it('shows the model a JSON Schema of arguments beside a schema that has none, or alone', async () => {
    const schema = { '~standard': { version: 1, vendor: 'other', validate: (value: unknown) => ({ value }) } } as never
    const jsonSchema = { type: 'object', properties: { task: { type: 'string' } } }
    for (const options of [{ schema, jsonSchema }, { jsonSchema }]) {
      const model = scriptedModel([ask(), 'Done.'])
      const agent = new Agent({ name: 'researcher', model: scriptedModel(['Found.']) })
      const { toolCalls } = await new Agent({ model })
        .use(agentTool({ agent, description: 'Finds facts', ...options }))
        .run('go')
      expect([model.requests[0]?.tools[0]?.jsonSchema, toolCalls[0]?.result.content]).toEqual([jsonSchema, 'Found.'])
    }
  })

  it('begins each task anew', async () => {
    const { agent, researcher } = chief(['one', 'two'])
    const session = agent.session()
    await session.run('go')
    expect(researcher.requests).toHaveLength(1)
    expect(session.history.some(({ content }) => JSON.stringify(content).includes('one'))).toBe(true)
  })

  it('takes a schema, an input and a result of its own, typed', async () => {
    const researcher = new Agent({ name: 'researcher', model: scriptedModel(['Found 3.']) }).use({
      name: 'count',
      state: { hits: { default: 3 } },
    })
    const layer = agentTool({
      agent: researcher,
      name: 'find',
      description: 'Finds',
      schema: z.object({ topic: z.string(), depth: z.number() }),
      input: ({ topic, depth }) => `${topic.toUpperCase()} ${depth.toFixed(1)}`,
      result: ({ text, state }) => ({ text, hits: state.hits }),
    })
    const call = { toolCalls: [{ name: 'find', args: { topic: 'onions', depth: 2 } }] }
    const { toolCalls } = await new Agent({ model: scriptedModel([call, 'ok']) }).use(layer).run('go')
    expect(toolCalls[0]?.result.content).toBe('{"text":"Found 3.","hits":3}')
  })

  it('tells the model why the other agent was blocked, as an error', async () => {
    const block: Middleware = { name: 'block', turn: (ctx) => ctx.block('not allowed') }
    const polite: Middleware = {
      name: 'polite',
      turn: (ctx) => ctx.block('not allowed', { reply: 'I may not look there.' }),
    }
    expect(await told(chief([], { layers: [block] }).agent)).toMatchObject({
      content: '"researcher" was blocked: not allowed',
      isError: true,
    })
    expect(await told(chief([], { layers: [polite] }).agent)).toMatchObject({
      content: 'I may not look there.',
      isError: true,
    })
  })

  it('tells the model nothing of what the other agent failed with', async () => {
    expect(await told(chief([new Error('key sk-secret is wrong')]).agent)).toMatchObject({
      content: 'The tool "researcher" failed.',
      status: 'error',
    })
  })

  it('counts its usage here, and asks for approval where it is told to', async () => {
    const { agent } = chief(['Found.'], { options: { requireApproval: true } })
    const session = agent.session()
    expect((await session.run('go')).status).toBe('suspended')
    const { usage, text } = await session.resume({ c1: { approve: true } })
    expect([usage.calls, text]).toEqual([2, 'Done.'])
  })

  it('stands under layers that are inherited', async () => {
    const seen: string[] = []
    const { agent } = chief(['Found.'])
    agent.use({
      name: 'audit',
      inherit: true,
      model(ctx, next) {
        seen.push(ctx.agent.name)
        return next()
      },
    })
    await agent.run('go')
    expect(seen).toEqual(['agent', 'researcher', 'agent'])
  })

  it('is named after the agent, and is refused twice under one name', () => {
    const { agent } = chief([])
    const other = new Agent({ name: 'researcher', model: scriptedModel([]) })
    expect(() => agent.use(agentTool({ agent: other, description: 'again', as: 'again' }))).toThrow(
      expect.objectContaining({ code: 'tool.duplicate' }),
    )
  })
})
