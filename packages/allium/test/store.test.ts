import { type AgentStore, memoryLedger, memoryStore } from '@allium/store'
import { describe, expect, it } from 'vitest'
import * as guard from '../src/guard.ts'
import { Agent, defineTool } from '../src/index.ts'
import * as memory from '../src/memory.ts'
import * as model from '../src/model.ts'
import { scriptedModel } from '../src/testing.ts'
import * as tools from '../src/tools.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const session = { id: 'chat-1', principal }

function mapped<T>() {
  const values = new Map<string, T>()
  return {
    values,
    get: (key: string) => values.get(key),
    load: (key: string) => values.get(key),
    set: (key: string, value: T) => void values.set(key, value),
    save: (key: string, value: T) => void values.set(key, value),
    delete: (key: string) => void values.delete(key),
  }
}

function scene(store: AgentStore = { sessions: memoryStore(), ledger: memoryLedger() }) {
  const agent = () => new Agent({ model: scriptedModel(Array.from({ length: 9 }, () => 'Hello.')), store })
  return { store, agent }
}

describe('new Agent({ store })', () => {
  it('keeps sessions for the next agent', async () => {
    const { agent } = scene()
    await agent().run('I am Ann.', { session })
    const later = agent().session(session)
    await later.run('Who am I?')
    expect(later.history.map(({ content }) => content)).toEqual(['I am Ann.', 'Hello.', 'Who am I?', 'Hello.'])
  })

  it('is where a budget counts, for all agents that have it', async () => {
    const { agent } = scene()
    const ask = () => {
      const budget = guard.budget({ limit: 30, unit: 'tokens', per: 'tenant', estimate: () => tokens })
      return agent().use(budget).run('hi', { session })
    }
    expect([(await ask()).status, (await ask()).status, (await ask()).status]).toContain('blocked')
  })

  it('is where a rate is counted, for all agents that have it', async () => {
    const { agent } = scene()
    const agents = [1, 2].map(() => agent().use(guard.rateLimit({ limit: 3, window: 'day', per: 'tenant' })))
    const runs = [0, 1, 0, 1, 0, 1].map((n) => agents[n]?.run('hi', { session: { principal } }))
    const ends = (await Promise.all(runs)).map((result) => result?.status)
    expect(ends.filter((status) => status === 'completed')).toHaveLength(3)
  })

  it('is where caches keep answers and results, and guard.pii what placeholders stand for', async () => {
    const [keyValue, vault] = [mapped<unknown>(), mapped<Readonly<Record<string, string>>>()]
    const { agent } = scene({ sessions: memoryStore(), keyValue, vault })
    const look = defineTool({ name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'Rain.' })
    await agent()
      .use(guard.pii())
      .use(model.cache())
      .use(tools.cache({ tools: ['look'] }))
      .use(tools.function(look))
      .run('I am ann@acme.test', {
        session,
        model: scriptedModel([{ toolCalls: [{ name: 'look', args: {} }] }, 'Rain.']),
      })
    expect([...keyValue.values.keys()].map((key) => key.split(':', 2).join(':')).sort()).toEqual(
      expect.arrayContaining(['model:cache', 'tools:cache']),
    )
    expect([...vault.values.values()]).toEqual([{ '[EMAIL_1]': 'ann@acme.test', own: '[EMAIL_1]' }])
  })

  it('gives way to what a layer was given itself', async () => {
    const [ofStore, own] = [mapped<unknown>(), mapped<unknown>()]
    const { agent } = scene({ sessions: memoryStore(), keyValue: ofStore })
    await agent()
      .use(model.cache({ store: own }))
      .run('hi', { session })
    expect([ofStore.values.size, own.values.size]).toEqual([0, 1])
  })

  it('is told apart from what is none, with the mend', () => {
    const make = (store: unknown) => () => new Agent({ model: scriptedModel([]), store: store as AgentStore })
    const sessions = memoryStore()
    expect(make('allium.db')).toThrow(/is a string\. Open it: store: sqlite\("allium\.db"\)/)
    expect(make(null)).toThrow(/is null/)
    expect(make(sessions)).toThrow(/store: \{ sessions: store \}/)
    expect(make({ ledger: memoryLedger() })).toThrow(/has no sessions/)
    expect(make({ sessions, ledger: { reserve() {} } })).toThrow(/a part ledger without the function settle\(\)/)
    expect(make({ sessions, limits: {} })).toThrow(/limits that are no function/)
  })

  it('leaves no room for a second layer that keeps sessions', () => {
    expect(() => scene().agent().use(memory.persist())).toThrow(/memory:persist/)
  })
})

const tokens = { inputTokens: 10, outputTokens: 10 }
