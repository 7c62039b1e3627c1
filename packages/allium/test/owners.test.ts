import { describe, expect, it } from 'vitest'
import * as guard from '../src/guard.ts'
import { Agent, type AnyMiddleware, memoryStore } from '../src/index.ts'
import * as memory from '../src/memory.ts'
import * as model from '../src/model.ts'
import { scriptedModel } from '../src/testing.ts'
import * as tools from '../src/tools.ts'

type Layer = AnyMiddleware | readonly AnyMiddleware[]
type Step = Parameters<typeof scriptedModel>[0][number]

const of = (userId: string | undefined) => ({ id: 'chat', principal: { tenantId: 'acme', userId } })

/** One agent with a layer, and what it sent and answered. */
function scene(layer: Layer, steps: readonly Step[], ran: unknown[] = []) {
  const provider = scriptedModel(steps)
  const search = {
    name: 'search',
    description: 'Searches',
    jsonSchema: { type: 'object' },
    execute: (args: unknown) => `found ${ran.push(args)}`,
  }
  const agent = new Agent({ model: provider, tools: [search], orderCheck: 'off' })
  return { agent: agent.use([layer].flat() as AnyMiddleware[]), provider, ran }
}

/** Two users of one tenant, and one who tells no user, who all say the id "chat". */
const others = ['bob', undefined, '["ann"]', 'ann ']

describe.each(others)('under one session id, %j sees nothing of "ann":', (other) => {
  it('guard.pii restores no value of hers', async () => {
    const calls = { toolCalls: [{ name: 'search', callId: 'c', args: { who: '[EMAIL_1]' } }] }
    const { agent, ran } = scene(guard.pii(), ['Noted.', calls, 'Done.'])
    await agent.session(of('ann')).run('I am ann@example.com.')
    await agent
      .session(of(other))
      .run('Look up [EMAIL_1].')
      .catch(() => {})
    expect(JSON.stringify(ran)).not.toContain('ann@example.com')
  })

  it('guard.injection marks by another secret', async () => {
    const calls = { toolCalls: [{ name: 'search', callId: 'c' }] }
    const { agent, provider } = scene(guard.injection(), [calls, 'Done.', calls, 'Done.'])
    await agent.session(of('ann')).run('Search.')
    await agent.session(of(other)).run('Search.')
    const marks = provider.requests.map(({ messages }) => JSON.stringify(messages).match(/untrusted-[\w-]+/)?.[0])
    expect(marks[1]).toMatch(/^untrusted-/)
    expect(marks[3]).not.toBe(marks[1])
  })

  it('guard.budget and guard.rateLimit count apart', async () => {
    const layers = [
      guard.budget({ limit: 20_000, unit: 'tokens', per: 'session' }),
      guard.rateLimit({ limit: 1, window: 'hour', per: 'session', scope: 'turn' }),
    ] as AnyMiddleware[]
    for (const layer of layers) {
      const { agent } = scene(layer, [
        { text: 'One.', usage: { inputTokens: 19_990, outputTokens: 5 } },
        'Two.',
        'Three.',
      ])
      await agent.session(of('ann')).run('hi')
      const statuses = [await agent.session(of(other)).run('hi'), await agent.session(of('ann')).run('hi')]
      expect(
        statuses.map(({ status }) => status),
        layer.name,
      ).toEqual(['completed', 'blocked'])
    }
  })

  it.each(['session', 'user'] as const)('caches per %s give another’s answers to nobody', async (per) => {
    const answers = scene(model.cache({ per }), ['For ann.', 'For another.'])
    await answers.agent.session(of('ann')).run('hi')
    expect((await answers.agent.session(of(other)).run('hi')).text).toBe('For another.')
    const calls = { toolCalls: [{ name: 'search', callId: 'c', args: { q: 1 } }] }
    const { agent, ran } = scene(tools.cache({ tools: ['search'], per }), [calls, 'Done.', calls, 'Done.'])
    await agent.session(of('ann')).run('hi')
    await agent.session(of(other)).run('hi')
    expect(ran).toHaveLength(2)
  })

  it('memory.persist loads no history of hers', async () => {
    const { agent } = scene(memory.persist({ store: memoryStore() }), ['One.', 'Two.', 'Three.'])
    await agent.session(of('ann')).run('my secret')
    const session = agent.session(of(other))
    await session.run('hi')
    expect(JSON.stringify(session.history)).not.toContain('my secret')
    const again = agent.session(of('ann'))
    await again.run('hi')
    expect(JSON.stringify(again.history)).toContain('my secret')
  })
})

it('a team shares a session where the agent says so', async () => {
  const provider = scriptedModel(['Noted.', 'Again.'])
  const agent = new Agent({ model: provider, owner: (principal: { team: string }) => principal.team })
  agent.use(memory.persist({ store: memoryStore() }))
  const from = (userId: string, team: string) => agent.session({ id: 'chat', principal: { userId, team } })
  await from('ann', 'red').run('our plan')
  const bob = from('bob', 'red')
  await bob.run('And?')
  const eve = from('eve', 'blue')
  await eve.open()
  expect([JSON.stringify(bob.history).includes('our plan'), eve.history.length]).toEqual([true, 0])
})
