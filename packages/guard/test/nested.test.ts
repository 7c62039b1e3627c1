import { Agent, delegate, type Middleware, type ToolExecution, type TypedMiddleware } from '@allium/core'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { content, maxModelCalls, maxToolCalls, policy, timeout } from '../src/index.ts'
import { calling, told, tool } from './scene.ts'

/** An agent with a layer, whose clerk has none of its own. */
function nested(layer: Middleware | TypedMiddleware<never>, inside: readonly ScriptedStep[], clock = manualClock()) {
  const ran: string[] = []
  const work = tool('work', () => `work ${ran.push('work')}`)
  const model = scriptedModel(inside)
  const clerk = new Agent({ name: 'clerk', model, tools: [work], clock })
  const answers: unknown[] = []
  const ask = {
    ...tool('ask'),
    execute: async (_: object, ctx: ToolExecution) => {
      const result = await delegate(ctx, clerk, 'go')
      answers.push(...told(result ?? { toolCalls: [] }))
      return result?.text
    },
  }
  const outer = scriptedModel([calling(['ask']), 'Done.'])
  const agent = new Agent({ model: outer, tools: [ask as never], clock, logger: { warn() {}, error() {} } })
  return { agent: agent.use(layer as Middleware), model, outer, ran, answers, clock }
}

describe('around a sub-agent', () => {
  it('guard.maxModelCalls counts its calls too, and lets nobody call on', async () => {
    const { agent, model, outer } = nested(maxModelCalls({ limit: 2 }), [calling(['work']), 'never'])
    const { status, state } = await agent.run('go')
    expect([status, state]).toEqual(['stopped', { 'guard:maxModelCalls:calls': 2 }])
    expect([outer.calls, model.calls]).toEqual([1, 1])
  })

  it('guard.maxToolCalls counts its calls too', async () => {
    const layer = maxToolCalls({ limit: 1, tools: ['work'] })
    const { agent, ran, answers } = nested(layer, [calling(['work'], ['work']), 'Did what I could.'])
    const { text, state } = await agent.run('go')
    expect([text, state, ran]).toEqual([
      'Done.',
      { 'guard:maxToolCalls:calls': 1, 'guard:maxToolCalls:waiting': [] },
      ['work'],
    ])
    expect(answers[1]).toContain('is used up')
  })

  it('guard.policy denies its tools, and does not show them to its model', async () => {
    const { agent, ran, model, answers } = nested(policy({ deny: ['work'] }), [calling(['work']), 'I may not.'])
    await agent.run('go')
    expect([ran, answers]).toEqual([[], ['The tool "work" may not be used here.']])
    expect(model.requests[0]?.tools).toEqual([])
  })

  it('guard.content redacts its answers', async () => {
    const layer = content({ keywords: ['nightingale'], onFinding: 'redact' })
    const { agent } = nested(layer, [{ chunks: ['It is night', 'ingale.'] }])
    expect(told(await agent.run('go'))).toEqual(['It is [removed].'])
  })

  it('guard.timeout of a turn cancels its calls', async () => {
    const { agent, model, clock } = nested(timeout({ turn: 1000 }), [{ stall: true }])
    const run = agent.run('go')
    await clock.advance(1000)
    await expect(run).rejects.toMatchObject({ code: 'turn.timeout' })
    expect([model.closed, clock.pending]).toEqual([1, 0])
  })
})
