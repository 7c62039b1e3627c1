import { Agent, type RunResult } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type McpPrincipalServer, mcp } from '../src/mcp.ts'
import { usersFixture } from './mcp/users.ts'

type User = { tenantId?: string; userId?: string; teamId?: string; token?: string }

const tokenOf = (principal: unknown) => {
  const { tenantId, userId, token } = (principal ?? { userId: 'the agent' }) as User
  return `Bearer ${tenantId}/${userId}${token ?? ''}`
}
const headers = (principal: unknown) => ({ authorization: tokenOf(principal) })

const step: ScriptedStep = ({ messages }) =>
  messages.at(-1)?.role === 'tool' ? 'Done.' : { toolCalls: [{ name: 'srv__who', args: {} }] }

async function world(options: Partial<McpPrincipalServer> = {}) {
  const server = await usersFixture()
  onTestFinished(async () => void (await server.stop()))
  const listWith = { headers: { authorization: 'Bearer the lister' } }
  const given = { url: server.url, perPrincipal: true, headers, ...(options.tools ? {} : { listWith }), ...options }
  const model = scriptedModel(Array.from({ length: 200 }, () => step))
  const logger = { debug() {}, warn() {}, error() {} }
  const agent = new Agent({ model, logger }).use(mcp({ name: 'srv', ...(given as McpPrincipalServer) }))
  onTestFinished(() => agent.dispose())
  const ask = async (principal: unknown) => resultOf(await agent.run('Who am I?', { session: { principal } }))
  return { agent, ask, ...server }
}
const resultOf = ({ toolCalls }: RunResult<object>) => toolCalls[0]?.result

describe('tools.mcp with perPrincipal', () => {
  it('lists with the rights of listWith alone, and closes that connection', async () => {
    const { agent, sessions, tokensOf } = await world()
    await agent.init()
    expect(sessions.size).toBe(0)
    expect([...tokensOf.values()].map((tokens) => [...tokens])).toEqual([['Bearer the lister']])
  })

  it('reaches nobody at init where the tools are given', async () => {
    const tools = [{ name: 'who', description: 'Tells who asks', jsonSchema: { type: 'object' } }]
    const { agent, ask, peak } = await world({ tools } as never)
    await agent.init()
    expect(peak.sessions).toBe(0)
    expect((await ask({ userId: 'ada' }))?.content).toBe('Bearer undefined/ada')
  })

  it.each([[undefined], [{ tenantId: 'acme' }], [{ tenantId: 'acme', teamId: 'red' }]])(
    'calls nothing for %o, who is no user',
    async (principal) => {
      const { ask, sessions } = await world()
      expect(await ask(principal)).toMatchObject({ isError: true, error: { code: 'mcp.unauthorized' } })
      expect(sessions.size).toBe(0)
    },
  )

  it.each([1, 2])(
    'never sends the token of one over the connection of another: tenants × users × races, seed %i',
    async (seed) => {
      const { ask, tokensOf, agent, peak } = await world({ maxConnections: 4 })
      await agent.init()
      tokensOf.clear()
      const random = randomOf(seed)
      const asked = Array.from({ length: 40 }, async () => {
        const user: User = { tenantId: `t${random(3)}`, userId: `u${random(3)}`, teamId: 'all', token: `#${random(2)}` }
        await new Promise((resolve) => setImmediate(resolve))
        expect((await ask(user))?.content).toBe(tokenOf(user))
      })
      await Promise.all(asked)
      for (const tokens of tokensOf.values())
        expect(new Set([...tokens].map((token) => token.split('#')[0])).size, [...tokens].join()).toBe(1)
      expect(peak.sessions).toBeLessThanOrEqual(4)
    },
  )

  it('keeps a connection for the next call of a user, and gives up the one that is idle longest', async () => {
    const { ask, tokensOf, sessions } = await world({ maxConnections: 2 })
    for (const userId of ['ada', 'bob', 'ada', 'eve', 'ada']) await ask({ userId })
    const open = [...sessions.keys()].map((id) => [...(tokensOf.get(id) ?? [])].join())
    expect(open).toEqual(['Bearer undefined/ada', 'Bearer undefined/eve'])
  })

  it('lets a call wait while all connections are at work, until one is free or it is aborted', async () => {
    const { agent, ask, gate, sessions } = await world({ maxConnections: 1 })
    let open = () => {}
    gate.open = new Promise<void>((resolve) => (open = resolve))
    const first = ask({ userId: 'ada' })
    await vi.waitFor(() => expect(sessions.size).toBe(1), 15_000)
    const second = ask({ userId: 'bob' })
    const left = agent.run('Who?', { session: { principal: { userId: 'eve' } } })
    const aborted = expect(left).rejects.toThrow('away')
    left.abort('away')
    await aborted
    open()
    expect([(await first)?.content, (await second)?.content]).toEqual(['Bearer undefined/ada', 'Bearer undefined/bob'])
  })

  it('refuses one authProvider for two users', async () => {
    const provider = { tokens: () => ({ access_token: 'x', token_type: 'bearer' }) } as never
    const { ask } = await world({ headers: {}, authProvider: () => provider })
    expect((await ask({ userId: 'ada' }))?.content).toBe('Bearer x')
    expect(await ask({ userId: 'bob' })).toMatchObject({
      error: { code: 'mcp.unreachable', cause: { code: 'layer.config' } },
    })
  })

  it.each([
    [{ perPrincipal: true }, 'either listWith'],
    [{ perPrincipal: true, listWith: {} }, 'headers or an authProvider in listWith'],
    [{ perPrincipal: true, listWith: { headers: {} }, authProvider: {} }, 'a function of the principal'],
    [{ authProvider: () => ({}) }, 'Set perPrincipal: true'],
    [{ listWith: { headers: {} } }, 'requires perPrincipal'],
    [{ maxConnections: 3 }, 'requires perPrincipal'],
    [{ authProvider: 'token' }, 'OAuthClientProvider'],
  ])('refuses %o', (options, words) => {
    const make = () => mcp({ name: 'srv', url: 'http://127.0.0.1:1/', ...options } as never)
    expect(make).toThrow(expect.objectContaining({ code: 'layer.config', message: expect.stringContaining(words) }))
  })

  it('refuses a program for each user', () => {
    expect(() => mcp({ name: 'srv', command: 'x', perPrincipal: true } as never)).toThrow('only works with a url')
  })
})

/** Numbers below `n`, the same for a seed. */
function randomOf(seed: number) {
  let state = seed
  return (n: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * n)
  }
}
