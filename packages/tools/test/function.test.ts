import { Agent, type AlliumError, type Middleware } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as tools from '../src/index.ts'

const add = () =>
  tools.function({
    name: 'add',
    description: 'Adds two numbers',
    schema: z.object({ a: z.number(), b: z.number().default(1) }),
    execute: ({ a, b }) => a + b,
  })

describe('tools.function', () => {
  it('shows the model the tool, with the schema as JSON Schema', async () => {
    const { requests } = await scene(['no need'])
    expect(requests[0]?.tools).toMatchObject([
      { name: 'add', description: 'Adds two numbers', jsonSchema: { type: 'object', required: ['a'] } },
    ])
  })

  it('runs it with what the schema made of the arguments', async () => {
    const { result } = await scene([calls({ a: 2 }), 'Three.'])
    expect(result.text).toBe('Three.')
    expect(result.toolCalls).toMatchObject([{ name: 'add', result: { status: 'ok', content: '3', value: 3 } }])
  })

  it('tells the model what is wrong with the arguments, and does not run', async () => {
    const { result } = await scene([calls({ a: 'two' }), 'Sorry.'])
    expect(result.toolCalls).toMatchObject([{ result: { status: 'error', content: expect.stringContaining('a:') } }])
  })

  it('takes a raw JSON Schema instead', async () => {
    const echo = tools.function({
      name: 'echo',
      description: 'Gives back what it gets',
      jsonSchema: { type: 'object', properties: { text: { type: 'string' } } },
      execute: (args) => args,
    })
    const model = scriptedModel([{ toolCalls: [{ name: 'echo', args: { text: 'hi' } }] }, 'ok'])
    const { toolCalls } = await new Agent({ model }).use(echo).run('hello')
    expect(toolCalls[0]?.result.content).toBe('{"text":"hi"}')
  })

  it('passes the call’s place and signal on', async () => {
    const seen: unknown[] = []
    const look = tools.function({
      name: 'add',
      description: 'Looks around',
      schema: z.object({}),
      execute(_, { callId, sessionId, signal, principal }) {
        seen.push(callId, sessionId, signal.aborted, principal)
      },
    })
    const model = scriptedModel([calls({}), 'ok'])
    await new Agent({ model }).use(look).session({ id: 's', principal: 'ada' }).run('hello')
    expect(seen).toEqual(['call-1', 's', false, 'ada'])
  })

  it('keeps what it throws from the model', async () => {
    const breaks = tools.function({
      name: 'add',
      description: 'Breaks',
      schema: z.object({}),
      execute() {
        throw new Error('password hunter2')
      },
    })
    const model = scriptedModel([calls({}), 'ok'])
    const agent = new Agent({ model, logger: { warn() {}, error() {} } }).use(breaks)
    const { toolCalls } = await agent.run('hello')
    expect(toolCalls).toMatchObject([{ result: { status: 'error', content: 'The tool "add" failed.' } }])
    expect(JSON.stringify(model.requests)).not.toContain('hunter2')
  })

  it('stands inside layers that deny it', async () => {
    const deny: Middleware = { name: 'deny', tool: (ctx) => ctx.deny('not today') }
    const { result } = await scene([calls({ a: 1 }), 'ok'], deny)
    expect(result.toolCalls).toMatchObject([{ result: { status: 'denied', content: 'not today' } }])
  })

  it('is named after its tool, or as it is told', () => {
    expect(add().name).toBe('tools:function:add')
    expect(tools.function({ as: 'mine', name: 'x', description: 'X', jsonSchema: {}, execute: () => 1 }).name).toBe(
      'mine',
    )
  })

  it('is refused where its tool is registered already', () => {
    const agent = new Agent({ model: scriptedModel([]) }).use(add())
    const again = tools.function({ as: 'again', name: 'add', description: 'Adds', jsonSchema: {}, execute: () => 1 })
    expect(() => agent.use(again)).toThrow(
      expect.objectContaining({ code: 'tool.duplicate' } satisfies Partial<AlliumError>),
    )
  })
})

function calls(args: Record<string, unknown>): ScriptedStep {
  return { toolCalls: [{ name: 'add', args }] }
}

async function scene(steps: ScriptedStep[], ...layers: Middleware[]) {
  const model = scriptedModel(steps)
  const result = await new Agent({ model }).use(layers).use(add()).run('hello')
  return { result, requests: model.requests }
}
