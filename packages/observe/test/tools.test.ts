import { delegate, type Middleware } from '@allium/core'
import { manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { tools } from '../src/index.ts'
import { calling, decide, scene, tool } from './scene.ts'

const stats = { calls: 1, errors: 0, denied: 0, cancelled: 0, time: 0 }

describe('observe.tools', () => {
  it('counts calls, errors and denials by tool', async () => {
    const breaks = tool('breaks', () => {
      throw new Error('disk full')
    })
    const policy: Middleware = {
      name: 'policy',
      tool: (ctx, next) => (ctx.tool.name === 'pay' ? ctx.deny('no') : next()),
    }
    const steps = [calling(['look'], ['look'], ['breaks'], ['pay']), 'Done.']
    const { agent } = scene(steps, [tools(), policy], { tools: [tool('look'), tool('pay'), breaks] })
    const { state } = await agent.run('go')
    expect(state).toEqual({
      'observe:tools:calls': {
        look: { ...stats, calls: 2 },
        breaks: { ...stats, errors: 1 },
        pay: { ...stats, denied: 1 },
      },
    })
  })

  it('adds up the time of a tool', async () => {
    const clock = manualClock()
    const slow = tool('slow', () => clock.advance(20))
    const { agent } = scene([calling(['slow']), calling(['slow']), 'Done.'], [tools()], { tools: [slow], clock })
    const { state } = await agent.run('go')
    expect(state).toMatchObject({ 'observe:tools:calls': { slow: { calls: 2, time: 40 } } })
  })

  it('counts what a layer inside answered, and as an error what it told as one', async () => {
    const skips: Middleware = {
      name: 'skips',
      tool: (ctx) => ctx.skipCall({ content: 'no', isError: ctx.callIndex === 1 }),
    }
    const { agent } = scene([calling(['look'], ['look']), 'Done.'], [tools(), skips], { tools: [tool('look')] })
    expect((await agent.run('go')).state).toEqual({
      'observe:tools:calls': { look: { ...stats, calls: 2, errors: 1 } },
    })
  })

  it('counts a call that waits for a human once, when it is decided', async () => {
    const pay = tool('pay', undefined, { requireApproval: true })
    const { agent } = scene([calling(['pay']), 'Done.'], [tools()], { tools: [pay] })
    const session = agent.session()
    expect((await session.run('go')).state).toEqual({ 'observe:tools:calls': {} })
    expect((await decide(session, { approve: true })).state).toEqual({ 'observe:tools:calls': { pay: stats } })
  })

  it('counts a call that was cut off, and lets the block through', async () => {
    const guard: Middleware = { name: 'guard', tool: (ctx) => ctx.block('enough') }
    const { agent } = scene([calling(['look'])], [tools(), guard], { tools: [tool('look')] })
    const { status, state } = await agent.run('go')
    expect([status, state]).toEqual(['blocked', { 'observe:tools:calls': { look: { ...stats, cancelled: 1 } } }])
  })

  it('counts names that the model made up together', async () => {
    const steps = [calling(['made'], ['up'], ['__proto__']), 'Done.']
    const { agent } = scene(steps, [tools()], { tools: [tool('look')] })
    expect((await agent.run('go')).state).toEqual({
      'observe:tools:calls': { '(unknown)': { ...stats, calls: 3, errors: 3 } },
    })
  })

  it('counts the tools of sub-agents with those of their parent', async () => {
    const { agent: child } = scene([calling(['dig']), 'Found.'], [], { tools: [tool('dig')] })
    const research = tool('research')
    research.execute = async (_: unknown, ctx: never) => (await delegate(ctx, child, 'dig'))?.text
    const { agent } = scene([calling(['research']), 'Done.'], [tools()], { tools: [research] })
    expect((await agent.run('go')).state).toEqual({ 'observe:tools:calls': { dig: stats, research: stats } })
  })

  it('counts on where the clock fails', async () => {
    const clock = { ...manualClock(), monotonic: () => expect.fail('no time') }
    const { agent } = scene([calling(['look']), 'Done.'], [tools()], { tools: [tool('look')], clock })
    expect((await agent.run('go')).state).toEqual({ 'observe:tools:calls': { look: stats } })
  })

  it('keeps sessions apart, and stands under another name', async () => {
    const { agent } = scene([calling(['look']), 'a', 'b'], [tools({ as: 'mine' })], { tools: [tool('look')] })
    expect((await agent.run('1')).state).toEqual({ 'mine:calls': { look: stats } })
    expect((await agent.run('2')).state).toEqual({ 'mine:calls': {} })
  })
})
