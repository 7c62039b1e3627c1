import { Agent, type AgentOptions, isAlliumError } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { memoryStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { persist } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const secret = 'a secret of some length'
const paying = { toolCalls: [{ name: 'pay', callId: 'c1' }] }

/** An agent of a store, with a tool that needs an approval. */
function world(store: SessionStore = memoryStore()) {
  const paid: string[] = []
  const agentOf = (
    name: string,
    answers: Parameters<typeof scriptedModel>[0][number][],
    options: Partial<AgentOptions> = {},
  ) => {
    const pay = {
      name: 'pay',
      description: 'Pays',
      jsonSchema: {},
      requireApproval: true,
      execute: () => void paid.push(name),
    }
    const model = scriptedModel(answers)
    const agent = new Agent({ name, model, tools: [pay], approvals: { secret }, ...options }).use(persist({ store }))
    return { model, session: () => agent.session({ id: 'chat', principal }) }
  }
  return { store, agentOf, paid }
}
async function codeOf(act: PromiseLike<unknown>): Promise<string> {
  try {
    await act
    return 'nothing'
  } catch (error) {
    return isAlliumError(error) ? error.code : String(error)
  }
}
const textsOf = (messages: readonly { content: unknown }[]) => messages.map(({ content }) => content)

describe('two agents with one store and one secret', () => {
  it('have sessions of their own under one id, with their own runs and idempotency keys', async () => {
    const { agentOf } = world()
    const strict = agentOf('strict', ['Of strict.']).session()
    const { turnId } = await strict.run('Hi', { idempotencyKey: 'k' })
    const lax = agentOf('lax', ['Of lax.']).session()
    expect((await lax.run('Hi', { idempotencyKey: 'k' })).text).toBe('Of lax.')
    expect(textsOf(lax.history)).toEqual(['Hi', 'Of lax.'])
    expect(await codeOf(lax.rewind({ to: turnId }))).toBe('session.unknown_turn')
    const fork = lax.fork({ at: turnId })
    expect(await codeOf(fork.open())).toBe('session.unknown_turn')
    await strict.open()
    expect(textsOf(strict.history)).toEqual(['Hi', 'Of strict.'])
  })

  it('do not wait for each other, and decide no call of each other', async () => {
    const { agentOf, paid, store } = world()
    const strict = agentOf('strict', [paying], { approvals: { secret, canApprove: () => false } }).session()
    await strict.run('Pay')
    const [call] = (await store.pendingCalls({ tenant: 'acme', limit: 9 })).items
    expect(call?.key.agent).toBe('strict')
    const { token } = (await store.load(strict.key))?.rest.suspension?.calls.c1 ?? {}
    const lax = agentOf('lax', ['Hello.']).session()
    await lax.open()
    const decisions = { c1: { approve: true as const, ...(token && { token }) } }
    expect([lax.pending, await codeOf(lax.resume(decisions))]).toEqual([[], 'approval.unknown'])
    expect(paid).toEqual([])
  })
})

describe('a renamed agent', () => {
  it('goes on with the sessions of its former name, and decides their calls', async () => {
    const { agentOf, paid, store } = world()
    await agentOf('helpdesk', [paying]).session().run('Pay')
    const stranger = agentOf('support', ['New.']).session()
    await stranger.open()
    expect(stranger.history).toHaveLength(0)
    const support = agentOf('support', ['It is paid.'], { formerNames: ['helpdesk'] }).session()
    await support.open()
    const [call] = support.pending
    const { text } = await support.resume({ c1: { approve: true, ...(call?.token && { token: call.token }) } })
    expect([text, paid]).toEqual(['It is paid.', ['support']])
    expect((await store.list({ tenant: 'acme', limit: 9 })).items.map(({ key }) => key.agent)).toEqual(['support'])
  })
})

describe('agents of one sessionGroup', () => {
  const group = { sessionGroup: 'desk' }

  it('share the history, and each decides its own calls alone', async () => {
    const { agentOf, paid } = world()
    const strict = agentOf('strict', ['Hello.', paying], group).session()
    await strict.run('Hi')
    await strict.run('Pay')
    const [call] = strict.pending
    const lax = agentOf('lax', ['I am lax.'], group).session()
    await lax.open()
    expect(textsOf(lax.history).slice(0, 2)).toEqual(['Hi', 'Hello.'])
    expect([lax.pending, await lax.pendingFor(principal)]).toEqual([[], []])
    const decisions = { c1: { approve: true as const, ...(call?.token && { token: call.token }) } }
    expect(await codeOf(lax.resume(decisions))).toBe('approval.forbidden')
    expect(await codeOf(lax.resume({ c1: { deny: 'no' } }))).toBe('approval.forbidden')
    expect(paid).toEqual([])
    expect((await lax.run('And you?')).text).toBe('I am lax.')
  })

  it('do not take the run of an idempotency key of another one for their own', async () => {
    const { agentOf } = world()
    await agentOf('strict', ['Of strict.'], group).session().run('Hi', { idempotencyKey: 'k' })
    const lax = agentOf('lax', ['Of lax.'], group).session()
    expect(await codeOf(lax.run('Hi', { idempotencyKey: 'k' }))).toBe('run.key_reused')
    expect((await lax.run('Hi', { idempotencyKey: 'l' })).text).toBe('Of lax.')
  })

  it('bring their own sessions along when they join it', async () => {
    const { agentOf } = world()
    await agentOf('sales', ['Before.']).session().run('Hi')
    const sales = agentOf('sales', [], group).session()
    await sales.open()
    expect(textsOf(sales.history)).toEqual(['Hi', 'Before.'])
  })
})
