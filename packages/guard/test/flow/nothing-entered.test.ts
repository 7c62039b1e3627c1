import { Agent, type Middleware, type ToolContext } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { flow } from '../../src/index.ts'
import { calling, mail, page, scene, sends, tool, writes } from './scene.ts'

const tools = { read_page: page, read_mail: mail, send: sends, save: writes }
const labels = 'guard:flow:labels'

describe('guard.flow, where nothing came in', () => {
  it('keeps its labels after a call of a tool that does not exist', async () => {
    const { agent } = scene([calling('no_such_tool'), calling('save'), 'Saved.', calling('save'), 'Done.'], tools)
    const session = agent.session()
    const { status, state } = await session.run('go')
    expect([status, state[labels]]).toEqual(['completed', {}])
    expect((await session.run('again')).status).toBe('completed')
  })

  it('keeps its labels after a call with arguments that do not fit', async () => {
    const read = { ...tool('read_page', page), jsonSchema: undefined, schema: z.object({ url: z.string() }) } as never
    const model = scriptedModel([calling('read_page'), calling('save'), 'Done.'])
    const { status, state } = await new Agent({ model, tools: [read, tool('save', writes)] }).use(flow()).run('go')
    expect([status, state[labels]]).toEqual(['completed', {}])
  })

  it.each([
    ['by a layer outside of it', (ctx: Pick<ToolContext, 'deny'>) => ctx.deny('Not on Sundays.')],
    ['without a reason', (ctx: Pick<ToolContext, 'deny'>) => ctx.deny('')],
  ])('keeps its labels after a call that was denied %s, in later turns too', async (_, deny) => {
    const denies: Middleware = {
      name: 'denies',
      tool: (ctx, next) => (ctx.tool.name === 'read_page' ? deny(ctx) : next()),
    }
    const steps = [calling('read_page'), calling('save'), 'Saved.', calling('save'), 'Done.']
    const { agent } = scene(steps, tools, { layers: [denies] })
    const session = agent.session()
    const { status, state } = await session.run('go')
    expect([status, state[labels]]).toEqual(['completed', {}])
    const other = agent.session()
    other.restore(JSON.parse(JSON.stringify(session.snapshot())))
    expect((await other.run('again')).status).toBe('completed')
  })

  it('keeps its labels after a person has denied a call', async () => {
    const asks = { ...tool('read_page', page), requireApproval: true }
    const model = scriptedModel([calling('read_page'), calling('save'), 'Done.'])
    const session = new Agent({ model, tools: [asks, tool('save', writes)] }).use(flow()).session()
    const { pending } = await session.run('go')
    const { status, state } = await session.resume({ [pending[0]?.callId as string]: { deny: 'No.' } })
    expect([status, state[labels]]).toEqual(['completed', {}])
  })

  it('labels what a tool brought, although a layer outside denies the call afterwards', async () => {
    const denies: Middleware = {
      name: 'denies',
      async tool(ctx, next) {
        const result = await next()
        return ctx.tool.name === 'read_page' ? ctx.deny(`It said: ${result.content}`) : result
      },
    }
    const { agent } = scene([calling('read_page'), calling('save'), 'Done.'], tools, { layers: [denies] })
    expect((await agent.run('go')).status).toBe('suspended')
  })

  it('labels a result that a layer gives for a tool that does not exist', async () => {
    const gives: Middleware = {
      name: 'gives',
      tool: (ctx, next) => (ctx.tool.name === 'no_such_tool' ? ctx.skipCall('A page.') : next()),
    }
    const { agent } = scene([calling('no_such_tool'), calling('save'), 'Done.'], tools, { layers: [gives] })
    expect((await agent.run('go')).status).toBe('suspended')
  })

  it('joins the text around a thought as it was', async () => {
    const model = scriptedModel([calling('read_mail'), 'Done.'])
    const speaks: Middleware = {
      name: 'speaks',
      model: async (ctx, next) => {
        if (ctx.stepIndex === 0) return next()
        ctx.pipe(async function* (chunks) {
          for await (const _ of chunks);
          yield { type: 'text-delta', delta: 'Hello ' }
          yield { type: 'reasoning-delta', delta: 'a thought' }
          yield { type: 'text-delta', delta: 'wor' }
          yield { type: 'reasoning-delta', delta: ', another' }
          yield { type: 'text-delta', delta: 'ld.' }
        })
        return next()
      },
    }
    const inside = { ...speaks, innermost: true, order: { is: [] } }
    const agent = new Agent({ model, tools: [tool('read_mail', mail)] }).use(flow()).use(inside)
    expect((await agent.run('go')).text).toBe('Hello world.')
  })

  it('refuses a quarantine with a tuple, which could carry text', () => {
    const schema = z.object({ x: z.tuple([z.string()], z.enum(['a'])).check(z.maxLength(3)) })
    expect(() => flow({ quarantine: { x: schema }, reader: scriptedModel([]) })).toThrow(
      expect.objectContaining({ code: 'layer.config', message: expect.stringContaining('neither enums nor booleans') }),
    )
  })

  it('refuses a quarantine whose schema is no JSON Schema, and says what to take', () => {
    const made = (schema: unknown) => () => flow({ quarantine: { x: schema as never }, reader: scriptedModel([]) })
    expect(made(z.object({ day: z.date() }))).toThrow(
      expect.objectContaining({ code: 'layer.config', message: expect.stringContaining('use z.iso.date()') }),
    )
    for (const none of [{}, null, undefined, 'x'])
      expect(made(none)).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})
