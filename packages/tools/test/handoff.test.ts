import { Agent, type AgentOptions, defineMiddleware, type Middleware } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { agentGroup } from '../src/group.ts'
import { type HandoffTarget, handoff } from '../src/handoff.ts'

const to = (name: string, reason?: string) => ({
  toolCalls: [{ name: 'handoff', callId: `to-${name}`, args: { to: name, ...(reason && { reason }) } }],
})

interface Part extends Partial<Pick<AgentOptions, 'tools' | 'sessionGroup' | 'approvals'>> {
  says: readonly ScriptedStep[]
  to?: () => Agent[]
  max?: number
  layers?: Middleware[]
}

function part(name: string, { says, to: targets = () => [], max, layers = [], ...options }: Part) {
  const model = scriptedModel(says)
  const list = (): HandoffTarget[] => targets().map((agent) => ({ agent, description: `Does ${agent.name}` }))
  const logger = { warn() {}, error() {} }
  const agent = new Agent({ name, sessionGroup: 'desk', model, logger, ...options })
  agent.use(handoff({ to: list, max })).use(layers)
  return { agent: agent as Agent, model }
}

describe('handoff', () => {
  it('answers the same input with the other agent, and all later inputs', async () => {
    const refunds = part('refunds', { says: ['Refunded.', 'Anything else?'] })
    const triage = part('triage', { says: [to('refunds')], to: () => [refunds.agent] })
    const chat = agentGroup([triage.agent, refunds.agent]).session()
    expect(await chat.run('Money back')).toMatchObject({ text: 'Refunded.', status: 'completed' })
    expect([chat.agent, (await chat.run('No')).text]).toEqual(['refunds', 'Anything else?'])
    expect(triage.model.requests).toHaveLength(1)
  })

  it('shows the other agent the conversation, without an input of its own', async () => {
    const refunds = part('refunds', { says: ['Refunded.'] })
    const triage = part('triage', { says: [to('refunds', 'Order 7')], to: () => [refunds.agent] })
    await agentGroup([triage.agent, refunds.agent]).session().run('Money back')
    expect(refunds.model.requests[0]?.messages).toMatchObject([
      { role: 'user', content: 'Money back' },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', name: 'handoff', args: { to: 'refunds', reason: 'Order 7' } }],
      },
      { role: 'tool', content: [{ content: 'Handed off to refunds.' }] },
    ])
  })

  it('fails if the other agent is not in the group, instead of answering nothing', async () => {
    const refunds = part('refunds', { says: [] })
    const triage = part('triage', { says: [to('refunds')], to: () => [refunds.agent] })
    await expect(agentGroup([triage.agent]).session().run('Money back')).rejects.toMatchObject({
      code: 'layer.config',
      message: expect.stringContaining('Add it: agentGroup([triage, refunds]).'),
    })
  })

  it('counts the usage of all turns', async () => {
    const refunds = part('refunds', { says: ['Refunded.', 'Bye.'] })
    const triage = part('triage', { says: [to('refunds')], to: () => [refunds.agent] })
    const chat = agentGroup([triage.agent, refunds.agent]).session()
    const calls = async (input: string) => (await chat.run(input)).usage.calls
    expect([await calls('Money back'), await calls('Thanks')]).toEqual([2, 1])
  })

  it('checks all agents of a group, and says whose layers it means', () => {
    const cap = { name: 'cap', order: { inside: ['tools:handoff'] } }
    const refunds = part('refunds', { says: [] }).agent
    const triage = new Agent({ name: 'triage', sessionGroup: 'desk', model: scriptedModel([]) }).use([
      defineMiddleware({
        ...cap,
        async turn(_, next) {
          await next()
        },
      }),
      handoff({ to: [] }),
    ])
    const [finding, ...others] = agentGroup([refunds, triage]).check()
    expect([finding?.layers, others]).toEqual([['triage/tools:handoff', 'triage/cap'], []])
  })

  it('hands back like it hands off', async () => {
    const triage: ReturnType<typeof part> = part('triage', {
      says: [to('refunds'), 'What else?'],
      to: () => [refunds.agent],
    })
    const refunds = part('refunds', { says: [to('triage')], to: () => [triage.agent] })
    const chat = agentGroup([triage.agent, refunds.agent]).session()
    expect([(await chat.run('Hi')).text, chat.agent]).toEqual(['What else?', 'triage'])
  })

  it('streams the events of both turns as those of one run, with the handoff between them', async () => {
    const refunds = part('refunds', { says: ['Refunded.'] })
    const triage = part('triage', { says: [to('refunds', 'Order 7')], to: () => [refunds.agent] })
    const seen: unknown[] = []
    for await (const event of agentGroup([triage.agent, refunds.agent]).session().run('Money back')) {
      if (event.type === 'turn:end') seen.push([event.status, event.reason])
      if (event.type === 'tools:handoff') seen.push([event.from, event.to, event.reason])
      if (event.type === 'text-delta') seen.push(event.delta)
    }
    expect(seen).toEqual([['triage', 'refunds', 'Order 7'], 'Refunded.', ['completed', undefined]])
  })

  it('lets a model hand off only to the agents in "to"', async () => {
    const [refunds, admin] = [part('refunds', { says: [] }), part('admin', { says: ['Deleted.'] })]
    const triage = part('triage', { says: [to('admin'), 'Sorry.'], to: () => [refunds.agent] })
    const chat = agentGroup([triage.agent, refunds.agent, admin.agent]).session()
    const { text, toolCalls } = await chat.run('Delete all')
    expect([text, chat.agent, toolCalls[0]?.result.isError]).toEqual(['Sorry.', 'triage', true])
    expect(toolCalls[0]?.result.content).toBe('Cannot hand off to "admin". Agents: refunds.')
  })

  it('ends a chain of handoffs after "max", and counts again from the next input', async () => {
    const one: ReturnType<typeof part> = part('one', {
      says: [to('two'), to('two'), 'I answer.', to('two')],
      to: () => [two.agent],
      max: 2,
    })
    const two = part('two', { says: [to('one'), 'Now I do.'], to: () => [one.agent], max: 2 })
    const chat = agentGroup([one.agent, two.agent]).session()
    const { text, toolCalls } = await chat.run('Hi')
    expect([text, toolCalls[0]?.result.isError]).toEqual(['I answer.', true])
    expect((await chat.run('Again')).text).toBe('Now I do.')
  })

  it('takes the first of two handoffs in one answer', async () => {
    const [a, b] = [part('a', { says: ['Of a.'] }), part('b', { says: [] })]
    const both = { toolCalls: [...to('a').toolCalls, ...to('b').toolCalls] }
    const triage = part('triage', { says: [both], to: () => [a.agent, b.agent] })
    const chat = agentGroup([triage.agent, a.agent, b.agent]).session()
    expect([(await chat.run('Hi')).text, chat.agent]).toEqual(['Of a.', 'a'])
  })

  it('keeps the state of the session, such as its budget', async () => {
    const spent: number[] = []
    const budget = (): Middleware => ({
      name: 'budget',
      state: { spent: { default: 0, reducer: (sum: number, more: number) => sum + more } },
      model(ctx, next) {
        ctx.state.spent = 1
        spent.push(ctx.state.spent)
        return next()
      },
    })
    const refunds = part('refunds', { says: ['Refunded.'], layers: [budget()] })
    const triage = part('triage', { says: [to('refunds')], to: () => [refunds.agent], layers: [budget()] })
    await agentGroup([triage.agent, refunds.agent]).session().run('Money back')
    expect(spent).toEqual([1, 2])
  })

  it('refuses a target that would lose state of the session', async () => {
    const refunds = part('refunds', { says: ['Refunded.'] })
    const budget = { name: 'budget', state: { spent: { default: 0 } } }
    const triage = part('triage', { says: [to('refunds')], to: () => [refunds.agent], layers: [budget] })
    await expect(triage.agent.run('Hi')).rejects.toMatchObject({
      code: 'layer.config',
      message: expect.stringContaining('the state key "spent"'),
    })
  })

  it.each([
    ['another group', () => [part('x', { says: [], sessionGroup: 'other' }).agent], 'not in its session group'],
    ['no group', () => [part('x', { says: [], sessionGroup: undefined }).agent], 'not in its session group'],
    ['itself', () => [part('triage', { says: [] }).agent], 'which is itself'],
    ['one agent twice', () => [part('x', { says: [] }).agent, part('x', { says: [] }).agent], 'twice'],
    [
      'no layer of its own',
      () => [new Agent({ name: 'x', sessionGroup: 'desk', model: scriptedModel([]) }) as Agent],
      'has no layer handoff',
    ],
  ])('refuses a target with %s at init()', async (_, targets, message) => {
    const { agent } = part('triage', { says: [], to: targets })
    await expect(agent.init()).rejects.toMatchObject({
      code: 'layer.config',
      message: expect.stringContaining(message),
    })
  })
})

describe('a pending call', () => {
  const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
  const call = { name: 'pay', callId: 'p1', args: {} }

  it('stays with the agent that suspended it, and the handoff follows its decision', async () => {
    const refunds = part('refunds', { says: ['Refunded.'] })
    const both = { toolCalls: [call, ...to('refunds').toolCalls] }
    const triage = part('triage', { says: [both], to: () => [refunds.agent], tools: [pay] })
    const chat = agentGroup([triage.agent, refunds.agent]).session()
    expect([(await chat.run('Pay')).status, chat.agent, chat.pending[0]?.callId]).toEqual(['suspended', 'triage', 'p1'])
    const { text } = await chat.resume({ p1: { approve: true } })
    expect([text, chat.agent, triage.model.requests.length]).toEqual(['Refunded.', 'refunds', 1])
  })

  it('cannot be decided through another agent of the group', async () => {
    const refunds = part('refunds', { says: [], tools: [pay] })
    const triage = part('triage', { says: [{ toolCalls: [call] }], to: () => [refunds.agent], tools: [pay] })
    const session = triage.agent.session()
    await session.run('Pay')
    const other = refunds.agent.session({ id: session.id })
    other.restore(session.snapshot())
    await expect(other.resume({ p1: { approve: true } })).rejects.toMatchObject({ code: 'approval.forbidden' })
  })

  it('of the agent that took over is decided by that agent', async () => {
    const refunds = part('refunds', { says: [{ toolCalls: [call] }, 'Paid.'], tools: [pay] })
    const triage = part('triage', { says: [to('refunds')], to: () => [refunds.agent] })
    const chat = agentGroup([triage.agent, refunds.agent]).session()
    expect((await chat.run('Pay')).status).toBe('suspended')
    expect([chat.agent, (await chat.resume({ p1: { approve: true } })).text]).toEqual(['refunds', 'Paid.'])
  })
})

describe('agentGroup', () => {
  it('begins with the first agent, and aborts the turn that runs', async () => {
    const reader = new AbortController()
    const refunds = part('refunds', { says: [{ text: 'Never.', stall: true }] })
    const triage = part('triage', { says: [to('refunds')], to: () => [refunds.agent] })
    const run = agentGroup([triage.agent, refunds.agent]).session().run('Hi', { signal: reader.signal })
    refunds.agent.on('model:start', () => reader.abort('enough'))
    await expect(run).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('refuses agents whose sessions it cannot follow', () => {
    const { agent } = part('a', { says: [] })
    const other = part('b', { says: [], sessionGroup: 'other' }).agent
    const plain = new Agent({ name: 'c', sessionGroup: 'desk', model: scriptedModel([]) })
    for (const agents of [[], [agent, other], [agent, agent], [agent, plain]])
      expect(() => agentGroup(agents)).toThrow(expect.objectContaining({ code: 'agent.options' }))
    expect(() => agentGroup([agent]).session({ user: 'u' } as never)).toThrow('user')
  })
})
