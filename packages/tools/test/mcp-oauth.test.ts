import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type McpPrincipalServer, mcp } from '../src/mcp.ts'
import { memoryProvider, oauthFixture } from './mcp/oauth.ts'

const read = { name: 'srv__read', args: {} }
const step = (calls: number) => [{ toolCalls: Array.from({ length: calls }, () => read) }, 'Done.']

async function fixture() {
  const server = await oauthFixture()
  onTestFinished(async () => void (await server.stop()))
  return server
}

function agentWith(options: object, ...calls: number[]) {
  const log: string[] = []
  const logger = { debug() {}, warn: (line: string) => log.push(line), error: (line: string) => log.push(line) }
  const agent = new Agent({ model: scriptedModel(calls.flatMap(step)), logger }).use(
    mcp({ name: 'srv', ...(options as McpPrincipalServer) }),
  )
  onTestFinished(() => agent.dispose())
  const run = async (principal?: unknown) =>
    (await agent.run('Read', { session: { principal } })).toolCalls.map(({ result }) => result)
  return { agent, run, log }
}

describe('tools.mcp with an authProvider', () => {
  it('fails init until its user has agreed, then has the tools', async () => {
    const { url, grants, seen } = await fixture()
    const user = memoryProvider()
    const authProvider = user.provider
    await expect(agentWith({ url, authProvider }).agent.init()).rejects.toMatchObject({ code: 'mcp.unauthorized' })
    expect(user.redirects).toHaveLength(1)
    await user.agree(url)
    const { run } = agentWith({ url, authProvider }, 1)
    expect(await run()).toMatchObject([{ content: 'read', status: 'ok' }])
    expect(grants).toEqual(['code'])
    expect(new Set(seen)).toEqual(new Set([`Bearer ${user.token()}`]))
  })

  it('refreshes a token that runs out in mid-session once, however many calls meet it', async () => {
    const { url, grants, expire } = await fixture()
    const user = await agreed(url)
    const { run } = agentWith({ url, authProvider: user.provider }, 1, 5, 1)
    await run()
    for (const calls of [5, 1]) {
      expire()
      expect((await run()).map(({ content }) => content)).toEqual(Array(calls).fill('read'))
    }
    expect(grants).toEqual(['code', 'refresh', 'refresh'])
    expect(user.redirects).toHaveLength(1)
  })

  it('says that the user must agree again when the refresh token is refused too, and tells no token', async () => {
    const { url, expire, forget } = await fixture()
    const user = await agreed(url)
    const token = String(user.token())
    const { run, log } = agentWith({ url, authProvider: user.provider }, 1, 1, 1)
    await run()
    expire()
    forget()
    const [result] = await run()
    expect(result).toMatchObject({ isError: true, error: { code: 'mcp.unauthorized' } })
    expect(JSON.stringify([result?.content, log])).not.toContain(token)
    await user.agree(url)
    expect(await run()).toMatchObject([{ content: 'read' }])
  })

  it('authorizes each user alone: one who has not agreed stops nobody', async () => {
    const { url, seen } = await fixture()
    const users = { lister: await agreed(url), ada: await agreed(url), bob: memoryProvider() }
    const listWith = { authProvider: users.lister.provider }
    const authProvider = (principal: unknown) => users[(principal as { userId: 'ada' | 'bob' }).userId].provider
    const { run } = agentWith({ url, perPrincipal: true, authProvider, listWith }, 1, 1, 1)
    expect(await run({ userId: 'ada' })).toMatchObject([{ content: 'read' }])
    expect(await run({ userId: 'bob' })).toMatchObject([{ isError: true, error: { code: 'mcp.unauthorized' } }])
    await users.bob.agree(url)
    expect(await run({ userId: 'bob' })).toMatchObject([{ content: 'read' }])
    expect(seen.at(-1)).toBe(`Bearer ${users.bob.token()}`)
    expect(users.lister.redirects.length + users.ada.redirects.length).toBe(2)
  })

  it('sends its headers to the server alone, and not with the requests of the authorization', async () => {
    const { url } = await fixture()
    const sent: string[] = []
    const fetch: typeof globalThis.fetch = (to, init) => {
      if (new Headers(init?.headers).has('x-key')) sent.push(new URL(String(to)).pathname)
      return globalThis.fetch(to, init)
    }
    const user = memoryProvider()
    const { agent } = agentWith({ url, fetch, headers: { 'x-key': 'k' }, authProvider: user.provider })
    await agent.init().catch(() => {})
    expect(user.redirects).toHaveLength(1)
    expect(new Set(sent)).toEqual(new Set(['/mcp']))
  })
})

/** One who has agreed, before the agent asks. */
async function agreed(url: string) {
  const user = memoryProvider()
  await agentWith({ url, authProvider: user.provider })
    .agent.init()
    .catch(() => {})
  await user.agree(url)
  return user
}
