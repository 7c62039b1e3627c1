import { describe, expect, it } from 'vitest'
import { delegate, type Middleware } from '../src/index.ts'
import { build, tool } from './kit.ts'

const search = { name: 'web_search', description: 'Search', providerExecuted: { id: 'p.search', args: {} } }
const guard = (...names: string[]): Middleware => ({
  name: 'watch',
  inherit: true,
  guards: (name) => names.includes(name),
  tool: (_, next) => next(),
})

describe('a layer that must see the calls of a tool', () => {
  it('is refused at init() beside one that the provider runs', async () => {
    const { agent } = build(['hi'], [guard('web_search')], { tools: [search] })
    await expect(agent.init()).rejects.toMatchObject({
      code: 'tool.invalid',
      message: expect.stringContaining('"watch" must see each call of "web_search", but the provider runs it'),
    })
    await expect(agent.run('go')).rejects.toMatchObject({ code: 'tool.invalid' })
  })

  it('is told of by check()', () => {
    const { agent } = build(['hi'], [guard('web_search')], { tools: [search] })
    expect(agent.check()).toMatchObject([{ severity: 'error', layers: ['watch'] }])
  })

  it('is taken beside a tool of the provider that runs here, and beside those that it does not name', async () => {
    const shell = { ...search, name: 'shell', execute: () => 'ran' }
    const { agent } = build(['hi'], [guard('shell', 'work')], { tools: [search, shell, tool('work')] })
    expect((await agent.run('go')).text).toBe('hi')
    expect(agent.check()).toEqual([])
  })

  it('is refused where a layer registers the tool, with the agent layers unwound', async () => {
    const seen: string[] = []
    const registers: Middleware = {
      name: 'registers',
      async agent(ctx, next) {
        try {
          ctx.registerTool(search)
          await next()
        } finally {
          seen.push('unwound')
        }
      },
    }
    const { agent } = build(['hi'], [guard('web_search'), registers])
    await expect(agent.init()).rejects.toMatchObject({ code: 'tool.invalid' })
    expect(seen).toEqual(['unwound'])
  })

  it('is refused for one run too', async () => {
    const { agent } = build(['hi', 'hi'], [], { tools: [search] })
    await expect(agent.run('go', { use: [guard('web_search')] })).rejects.toMatchObject({ code: 'tool.invalid' })
    expect((await agent.run('go')).text).toBe('hi')
  })

  it('is refused around a sub-agent that inherits it', async () => {
    const { agent: child } = build(['found'], [], { name: 'researcher', tools: [search] })
    const errors: unknown[] = []
    const research = tool('research', (_, ctx) => delegate(ctx, child, 'go').catch((error) => void errors.push(error)))
    const steps = [{ toolCalls: [{ name: 'research' }] }, 'done']
    const { agent } = build(steps, [guard('web_search')], { tools: [research] })
    await agent.run('go')
    expect(errors).toMatchObject([{ code: 'tool.invalid' }])
  })
})

it('refuses a tool that the provider runs and that requires an approval, which nobody would be asked for', () => {
  expect(() => build([], [], { tools: [{ ...search, requireApproval: true }] })).toThrow(
    expect.objectContaining({ code: 'tool.invalid', message: expect.stringContaining('requireApproval') }),
  )
  expect(() => build([], [], { tools: [{ ...search, requireApproval: true, execute: () => 'ran' }] })).not.toThrow()
})
