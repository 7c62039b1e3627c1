import { Agent, type Middleware, type TypedMiddleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { approve, files, injection, maxToolCalls, policy } from '../src/index.ts'

const search = { name: 'web_search', description: 'Search', providerExecuted: { id: 'p.search', args: {} } }

function agentWith(layer: Middleware | TypedMiddleware<never>) {
  const model = scriptedModel(['fine'])
  return { model, agent: new Agent({ model, tools: [search] }).use(layer as Middleware) }
}

describe('a guard of a tool that the provider runs', () => {
  it.each([
    ['a test of its arguments', policy({ rules: [{ tool: 'web_*', args: { q: /^a/ } }] })],
    ['a role', policy({ rules: [{ tool: 'web_search', roles: ['staff'] }] })],
    ['an approval', approve()],
    ['an approval by name', approve({ tools: ['web_search'], handler: () => true })],
    ['a limit of calls', maxToolCalls({ limit: 3 })],
    ['a folder', files({ root: '/srv', pathArgs: { web_search: ['path'] } })],
    ['an approval after untrusted text', injection({ privilegedTools: ['web_*'] })],
  ])('is refused at init(): %s', async (_, layer) => {
    const { agent } = agentWith(layer)
    await expect(agent.init()).rejects.toMatchObject({
      code: 'tool.invalid',
      message: expect.stringContaining('web_search'),
    })
    expect(agent.check()).toMatchObject([{ severity: 'error' }])
  })

  it.each([
    ['an approval of others', approve({ tools: ['refund'] })],
    ['a limit of others', maxToolCalls({ limit: 3, tools: ['refund'] })],
    ['a rule of others', policy({ rules: [{ tool: 'refund', roles: ['staff'] }] })],
    ['a list without privileged ones', injection()],
  ])('is taken where it guards none of them: %s', async (_, layer) => {
    const { agent, model } = agentWith(layer)
    await agent.run('go')
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['web_search'])
  })

  it('is taken where the policy hides the tool in any case', async () => {
    const hides = policy({ deny: ['web_*'], rules: [{ tool: '*', roles: ['staff'] }] })
    const { agent, model } = agentWith(hides)
    await agent.run('go')
    expect(model.requests[0]?.tools).toEqual([])
  })
})
