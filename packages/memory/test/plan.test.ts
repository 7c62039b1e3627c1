import { Agent, type AgentOptions, type AnyMiddleware, type AnyTool, delegate } from '@allium/core'
import { memoryStore } from '@allium/store'
import { historyProblems, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { compact, type PlanItem, type Planned, type PlanOptions, persist, plan, truncate } from '../src/index.ts'

const item = (text: string, status: PlanItem['status'] = 'pending'): PlanItem => ({ text, status })
const writes = (...items: unknown[]): ScriptedStep => ({ toolCalls: [{ name: 'plan', args: { items } }] })

function scene(steps: ScriptedStep[], options: PlanOptions = {}, more: Partial<AgentOptions> = {}) {
  const model = scriptedModel(steps)
  const agent = new Agent({ model, ...more }).use(plan(options as PlanOptions<'memory:plan'>))
  const last = (call: number) => model.requests[call]?.messages.at(-1)?.content
  return { agent, model, last }
}

describe('memory.plan', () => {
  it('offers a tool, and changes nothing else while there is no plan', async () => {
    const { agent, model } = scene(['Hello.'])
    const { state } = await agent.run('Hi')
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['plan'])
    expect([model.requests[0]?.messages.length, state['memory:plan']]).toEqual([1, []])
  })

  it('keeps what the model writes, the whole list each time, and tells it', async () => {
    const steps = [writes(item('Look'), item('Book')), writes(item('Book', 'completed')), 'Done.']
    const { agent } = scene(steps)
    const events: Planned[] = []
    agent.on('memory:plan', (event) => events.push(event))
    const result = await agent.run('go')
    expect(result.state['memory:plan']).toEqual([item('Book', 'completed')])
    expect(events.map(({ items }) => items.length)).toEqual([2, 1])
    expect(result.toolCalls.map(({ result }) => result.content)).toEqual([
      'The plan is written: 0 of 2 completed.',
      'The plan is written: 1 of 1 completed.',
    ])
  })

  it('shows an open plan as the last message of each call, and keeps it out of the history', async () => {
    const steps = [
      writes(item('Look\nhere', 'completed'), item('Book', 'in_progress'), item('Pay')),
      'Working.',
      'Yes.',
    ]
    const { agent, last, model } = scene(steps)
    const session = agent.session()
    await session.run('go')
    await session.run('well?')
    expect(String(last(1)).split('\n').slice(1)).toEqual(['[x] Look here', '[>] Book', '[ ] Pay'])
    expect(last(2)).toBe(last(1))
    expect(JSON.stringify(session.history)).not.toContain('[>]')
    expect(model.requests.flatMap(({ messages }) => historyProblems(messages))).toEqual([])
  })

  it('sends the same beginning at each call, so that prompt caches hold', async () => {
    const { agent, model } = scene([writes(item('A')), writes(item('A', 'in_progress'), item('B')), 'Done.'])
    await agent.run('go')
    const [second, third] = model.requests.slice(1).map(({ messages }) => messages.slice(0, -1))
    expect(third?.slice(0, second?.length)).toEqual(second)
  })

  it('shows nothing once all is completed, nor where the tool is not offered', async () => {
    const { agent, last } = scene([writes(item('A', 'completed')), 'Done.'])
    await agent.run('go')
    expect(JSON.stringify(last(1))).not.toContain('[x]')
    const hides: AnyMiddleware = {
      name: 'hides',
      model(ctx, next) {
        ctx.removeTools('plan')
        return next()
      },
    }
    const model = scriptedModel(['Hello.'])
    const session = new Agent({ model }).use(hides).use(plan()).session()
    session.restore({ history: [], state: { 'memory:plan': [item('A')] } })
    await session.run('Hi')
    expect(model.requests[0]?.messages).toHaveLength(1)
  })

  it.each<[string, unknown[], RegExp]>([
    ['too many items', [item('1'), item('2'), item('3')], /3 items, and 2 is the most/],
    ['an item that is too long', [item('x'.repeat(21))], /item 1 has 21 characters, and 20/],
    ['an item without a text', [item('1'), { status: 'pending' }], /item 2 has no text/],
    ['an unknown status', [{ text: 'A', status: 'done' }], /not one of pending, in_progress, completed/],
    ['no item', [null], /item 1 has no text/],
  ])('refuses %s with an error that the model reads, and keeps the plan', async (_, items, message) => {
    const { agent } = scene([writes(item('Old')), writes(...items), 'Well.'], { maxItems: 2, maxLength: 20 })
    const result = await agent.run('go')
    expect(result.toolCalls[1]?.result).toMatchObject({ status: 'error', content: expect.stringMatching(message) })
    expect(result.state['memory:plan']).toEqual([item('Old')])
  })

  it('refuses a call without a list, and drops fields that are no part of an item', async () => {
    const { agent } = scene([{ toolCalls: [{ name: 'plan' }] }, writes({ ...item('A'), owner: 'me' }), 'Well.'])
    const result = await agent.run('go')
    expect(result.toolCalls[0]?.result).toMatchObject({
      status: 'error',
      content: expect.stringContaining('give "items"'),
    })
    expect(result.state['memory:plan']).toEqual([item('A')])
  })

  it('lets the last of several calls in one answer count, whatever their order in time', async () => {
    const calls = ['first', 'second'].map((text) => ({ name: 'plan', args: { items: [item(text)] } }))
    const { agent } = scene([{ toolCalls: calls }, 'Done.'])
    const result = await agent.run('go')
    expect(result.state['memory:plan']).toEqual([item('second')])
    expect(result.toolCalls.map(({ result }) => result.isError ?? false)).toEqual([true, false])
  })

  it('keeps the plan over a store, and each session its own', async () => {
    const store = memoryStore()
    const agentOf = (...steps: ScriptedStep[]) =>
      new Agent({ model: scriptedModel(steps) }).use(persist({ store })).use(plan())
    const monday = agentOf(writes(item('A')), 'Later.', 'Hello.')
    await monday.session({ id: 'one' }).run('go')
    expect((await monday.session({ id: 'two' }).run('Hi')).state['memory:plan']).toEqual([])
    expect((await agentOf('Yes.').session({ id: 'one' }).run('well?')).state['memory:plan']).toEqual([item('A')])
  })

  it('keeps a list that somebody writes to the state, as a copy', async () => {
    const { agent } = scene(['Hello.'])
    const { state } = agent.session()
    const mine = [item('A')]
    state['memory:plan'] = mine
    mine.pop()
    expect(state['memory:plan']).toEqual([item('A')])
  })

  it('gives a sub-agent neither the tool nor the plan', async () => {
    const inner = scriptedModel(['Found.'])
    const research: AnyTool = {
      name: 'research',
      description: 'Finds out',
      jsonSchema: {},
      execute: async (_: object, ctx) =>
        (await delegate(ctx, new Agent({ name: 'inner', model: inner }), 'find'))?.text,
    }
    const { agent } = scene(
      [writes(item('A')), { toolCalls: [{ name: 'research' }] }, 'Done.'],
      {},
      { tools: [research] },
    )
    await agent.run('go')
    expect([inner.requests[0]?.tools, inner.requests[0]?.messages.length]).toEqual([[], 1])
  })

  it('still shows the plan where memory.compact has taken the call away that wrote it', async () => {
    const model = scriptedModel([writes(item('A')), '1.', '2.', 'Sum.', '3.'])
    const shorten = compact({ trigger: { messages: 5 }, keep: { messages: 2 } })
    const session = new Agent({ model }).use(shorten).use(plan()).session()
    for (const input of ['1', '2', '3']) await session.run(input)
    const texts = (at: number) => model.requests[at]?.messages.map(({ content }) => String(content)) ?? []
    expect(texts(3).join()).not.toContain('[ ] A')
    expect(texts(4).at(-1)).toContain('[ ] A')
    expect(texts(4).at(-2)).toBe('3')
  })

  it('asks to stand inside layers that would take its note for the newest input', () => {
    const check = (...layers: AnyMiddleware[]) => new Agent({ model: 'none' }).use(layers).check()
    expect(check(truncate({ maxMessages: 3 }), plan())).toEqual([])
    expect(check(plan(), truncate({ maxMessages: 3 }))).toMatchObject([{ severity: 'error' }])
  })

  it('stands under another name, with another tool', async () => {
    const { agent, model } = scene(['Hello.'], { as: 'todo', name: 'write_todos', description: 'Lists' } as never)
    const { state } = await agent.run('Hi')
    expect(state).toEqual({ todo: [] })
    expect(model.requests[0]?.tools[0]).toMatchObject({ name: 'write_todos', description: 'Lists' })
  })

  it.each([{ maxItems: 0 }, { maxLength: Number.NaN }])('refuses %j', (options) => {
    expect(() => plan(options)).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})
