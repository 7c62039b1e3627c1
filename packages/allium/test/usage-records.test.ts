import { type AgentStore, memoryStore } from '@allium/store'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import * as guard from '../src/guard.ts'
import { Agent } from '../src/index.ts'
import * as packs from '../src/model.ts'
import * as observe from '../src/observe.ts'
import * as tools from '../src/tools.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const priced = observe.usage({ record: true, prices: { 'scripted/model': { input: 1, output: 2 } } })

function scene(steps: ScriptedStep[], store: AgentStore = { sessions: memoryStore() }) {
  const agent = new Agent({ name: 'desk', model: scriptedModel(steps), store, logger: { warn() {}, error() {} } })
  const taken = async () =>
    (await store.sessions.outbox.claim('billing', 100, 1000)).map(({ topic, tenant, data }) => [topic, tenant, data])
  return { agent, taken, store }
}

const used = { inputTokens: 10, outputTokens: 5, calls: 1 }
const whole = { agent: 'desk', model: 'scripted/model', usage: used, cost: 20 / 1e6 }

describe('observe.usage({ record: true })', () => {
  it('records each physical call for the outbox, with its tenant', async () => {
    const { agent, taken } = scene(['Hi.', 'Hello.'])
    const session = agent.use(priced).session({ id: 'chat', principal })
    await session.run('a')
    await session.run('b')
    expect(await taken()).toEqual([
      ['usage', 'acme', whole],
      ['usage', 'acme', whole],
    ])
  })

  it('records what was repeated and what has failed, and nothing for an answer from a cache', async () => {
    const { agent, taken } = scene([{ text: 'eight ch', error: new Error('cut') }, 'Hi.'])
    agent
      .use(packs.cache())
      .use(packs.retry({ attempts: 2, delay: 1, when: () => true }))
      .use(priced)
    for (const id of ['one', 'two']) await agent.session({ id, principal }).run('a')
    expect((await taken()).map(([, , data]) => (data as typeof whole).usage)).toEqual([
      { inputTokens: expect.any(Number), outputTokens: 2, calls: 1, estimated: true },
      used,
    ])
  })

  it('records what a call had used that was left for another one', async () => {
    const { agent, taken } = scene([{ chunks: ['eight ch'], stall: true }, 'Hi.'])
    agent
      .use(packs.retry({ attempts: 2, delay: 1, when: () => true }))
      .use(guard.timeout({ model: 20 }))
      .use(priced)
    expect((await agent.session({ id: 'chat', principal }).run('a')).text).toBe('Hi.')
    expect((await taken()).map(([, , data]) => (data as typeof whole).usage.calls)).toEqual([1, 1])
  })

  it('stands beside a cache of tools, in either order', async () => {
    const caching = () => tools.cache({ tools: ['look'] })
    for (const layers of [
      [priced, caching()],
      [caching(), priced],
    ]) {
      const { agent, taken } = scene(['Hi.'])
      await agent.use(layers).session({ id: 'chat', principal }).run('a')
      expect((await taken()).map(([topic]) => topic)).toEqual(['usage'])
    }
  })
})
