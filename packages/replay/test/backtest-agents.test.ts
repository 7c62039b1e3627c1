import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, delegate, type Middleware } from '@allium/core'
import { approve, maxToolCalls } from '@allium/guard'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { scriptedModel } from '@allium/testing'
import { agent as agentTool, cache } from '@allium/tools'
import { describe, expect, it, onTestFinished } from 'vitest'
import { backtest } from '../src/backtest/index.ts'
import { record } from '../src/index.ts'
import { readRecordings } from '../src/recorded/index.ts'
import { calls, ran, recordTurns, supportAgent, tested, toolsOf } from './backtest-kit.ts'

/** The tool "clerk", which runs a sub-agent with the tools of the kit. */
function clerk(layers: readonly Middleware[] = []) {
  const steps = [calls('search'), calls('refund'), 'refunded']
  const agent = new Agent({ name: 'clerk', model: scriptedModel(steps), tools: toolsOf() }).use([...layers])
  return { agent, layer: agentTool({ agent, description: 'Does it' }) }
}

const task = { name: 'clerk', args: { task: 'Refund it' } }
const denies: Middleware = {
  name: 'denies',
  tool: (ctx, next) => (ctx.tool.name === 'refund' ? ctx.deny('no') : next()),
}

describe('sub-agents in a backtest', () => {
  it('are entered if the tool only runs them, so that inherited and own layers decide about their calls', async () => {
    const { store } = await recordTurns({ layers: [clerk().layer], steps: [calls(task), 'done'] })
    const unchanged = await tested(store, { layers: [clerk().layer] })
    expect(unchanged.calls).toMatchObject({ judged: 3, unchanged: 3 })
    const own = await tested(store, { layers: [clerk([denies]).layer] })
    const inherited = await tested(store, { layers: [clerk().layer, maxToolCalls({ limit: 2 })] })
    expect(own.changes).toMatchObject([{ change: 'newly denied', layer: 'denies', tool: 'refund' }])
    expect(inherited.changes).toMatchObject([{ change: 'newly denied', layer: 'guard:maxToolCalls', tool: 'refund' }])
    expect(ran).toEqual([])
  })

  it('report a call inside that now waits, and not the call around it', async () => {
    const { store } = await recordTurns({ layers: [clerk().layer], steps: [calls(task), calls('search'), 'done'] })
    const report = await tested(store, { layers: [clerk().layer, approve({ tools: ['refund'] })] })
    expect(report.changes).toMatchObject([{ change: 'newly waiting', layer: 'guard:approve', tool: 'refund' }])
    expect(report.calls.notJudged).toEqual({ 'after a newly waiting call': 1 })
  })

  it('stay closed inside a tool with code of its own, which does not run', async () => {
    const tool = {
      ...{ name: 'clerk', description: 'Does it', jsonSchema: { type: 'object' } },
      async execute(_: unknown, ctx: never) {
        ran.push('clerk')
        return (await delegate(ctx, clerk().agent, 'Refund it'))?.text
      },
    }
    const { store } = await recordTurns({ tools: [tool], steps: [calls(task), 'done'] })
    const report = await tested(store, { tools: [tool] })
    expect(report.calls).toMatchObject({ judged: 1, notJudged: { 'inside a sub-agent that was not entered': 2 } })
    expect(ran).toEqual([])
  })
})

describe('layers in a backtest', () => {
  it('that cache results are passed by, and neither read nor write the store of the agent', async () => {
    const cached = () => cache({ tools: ['search'] })
    const steps = [calls('search'), calls('search'), 'done']
    const { store } = await recordTurns({ layers: [cached()], steps })
    const report = await tested(store, { layers: [cached()] })
    expect(report.calls).toMatchObject({ judged: 2, unchanged: 2 })
    expect(report.passedBy).toContain('tools:cache')
  })

  it('record nothing and store no session', async () => {
    const { store } = await recordTurns({ steps: [calls('search'), 'done'] })
    const layers = () => [persist({ store }), record({ store: store.recordings })]
    await tested(store, { layers: layers() })
    const { items } = await store.recordings.list({ agent: 'support', limit: 9 })
    const { items: sessions } = await store.list({ tenant: 'acme', limit: 9 })
    expect([items.length, sessions.length]).toEqual([1, 1])
    await expect(tested(store, { layers: [persist({ store, anonymous: true })] })).rejects.toThrow('anonymous sessions')
  })

  it('get old results of ctx.once() only if they did not change', async () => {
    const asks = (limit: number): Middleware => ({
      ...{ name: 'asks', options: { limit } },
      async tool(ctx, next) {
        const isHigh = await ctx.once('high', () => 1 > limit)
        return isHigh ? ctx.deny('too high') : next()
      },
    })
    const { store } = await recordTurns({ layers: [asks(5)], steps: [calls('refund'), 'done'] })
    expect((await tested(store, { layers: [asks(5)] })).calls).toMatchObject({ unchanged: 1 })
    expect((await tested(store, { layers: [asks(0)] })).calls).toMatchObject({ newlyDenied: 1 })
  })

  it('that ask a model make the turn diverge, and no model is called', async () => {
    let asked = 0
    const answer = () => {
      asked++
      return 'fine'
    }
    const judge = new Agent({ name: 'judge', model: scriptedModel([answer]) })
    const asks: Middleware = {
      name: 'asks',
      async tool(ctx, next) {
        await ctx.once('judge', async (inner) => (await judge.run('ok?', inner)).text)
        return next()
      },
    }
    const { store } = await recordTurns({ steps: [calls('refund'), 'done'] })
    const report = await tested(store, { layers: [asks] })
    expect([report.turns.diverged, report.calls.judged, asked]).toEqual([{ 'a layer needs a live answer': 1 }, 0, 0])
  })
})

/** Not safe, but not readable without it either. */
const reversed = {
  seal: async (bytes: Uint8Array) => Uint8Array.from(bytes, (byte) => byte ^ 0xff),
  open: async (bytes: Uint8Array) => Uint8Array.from(bytes, (byte) => byte ^ 0xff),
}

it('reads the recordings of a sealed SQLite store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'allium-backtest-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const store = sqlite(join(folder, 'chats.db'), { encrypt: reversed })
  onTestFinished(() => void store.close())
  const layers = [persist({ store: store.sessions }), record({ store: store.recordings })]
  const agent = supportAgent({ layers, steps: [calls('refund'), 'one', calls('refund'), 'two'] })
  const session = agent.session({ id: 'chat', principal: { tenantId: 'acme' } })
  await session.run('a')
  await session.run('b')
  const recordings = readRecordings({ recordings: store.recordings, sessions: store.sessions, agent: 'support' })
  const report = await backtest({ agent: () => supportAgent({ layers: [denies] }), recordings })
  expect(report.calls).toMatchObject({ judged: 2, newlyDenied: 2, afterChange: 0 })
})
