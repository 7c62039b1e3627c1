import { type AgentStore, memoryLedger, memoryStore } from '@allium/store'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import * as guard from '../src/guard.ts'
import { Agent } from '../src/index.ts'
import * as packs from '../src/model.ts'

const account = '["guard:budget","acme"]'
const session = { id: 'chat-1', principal: { tenantId: 'acme', userId: 'ann' } }
const budget = { limit: 1000, unit: 'tokens', per: 'tenant', estimate: () => estimate } as const
const estimate = { inputTokens: 100, outputTokens: 200 }

/** One store, and processes that may be lost: from then on they reach it no more. */
function world() {
  const clock = manualClock()
  const store = { sessions: memoryStore({ clock }), ledger: memoryLedger({ clock }) }
  const process = (steps: ScriptedStep[], budgets: Partial<Parameters<typeof guard.budget>[0]>[] = [{}]) => {
    let lost = false
    const part = <T extends object>(real: T): T =>
      new Proxy(real, {
        get(target, name) {
          const value = target[name as keyof T]
          if (typeof value !== 'function') return value
          return (...args: unknown[]) => (lost ? new Promise(() => {}) : value.apply(target, args))
        },
      })
    const own: AgentStore = { sessions: part(store.sessions), ledger: part(store.ledger) }
    const agent = new Agent({ model: scriptedModel(steps), store: own, clock, logger: { warn() {}, error() {} } })
    for (const more of budgets) agent.use(guard.budget({ ...budget, ...more }))
    return { agent: agent.use(packs.retry({ attempts: 2 })), lose: () => (lost = true) }
  }
  return { clock, ...store, process }
}

async function rest(): Promise<void> {
  for (let i = 0; i < 300; i++) await Promise.resolve()
}

describe('a budget whose process is lost in the middle of a call', () => {
  it('counts the call by its estimate once the session is taken over, and tells it', async () => {
    const { clock, ledger, process } = world()
    const first = process([{ stall: true }])
    void first.agent.run('Hi', { session }).catch(() => {})
    await rest()
    expect(ledger.balance(account)).toEqual({ spent: 0, reserved: 300 })
    first.lose()
    await clock.advance(10_001)
    const told: unknown[] = []
    const second = process(['Hello.'])
    second.agent.on('guard:budget:cut', ({ calls, estimated }) => told.push(calls, estimated))
    const { usage, state } = await second.agent.run('Hello?', { session })
    expect(told).toEqual([[{ account, amount: 300 }], true])
    const spent = 300 + usage.inputTokens + usage.outputTokens
    expect(ledger.balance(account)).toEqual({ spent, reserved: 0 })
    expect(state).toMatchObject({ 'guard:budget:spent': spent, 'guard:budget:run': '' })
  })

  it('counts nothing for a run that was lost between two calls', async () => {
    const { clock, ledger, process } = world()
    const first = process([new Error('503'), 'never'])
    void first.agent.run('Hi', { session }).catch(() => {})
    await rest()
    first.lose()
    await clock.advance(10_001)
    const { usage } = await process(['Hello.']).agent.run('Hello?', { session })
    expect(ledger.balance(account)).toEqual({ spent: usage.inputTokens + usage.outputTokens, reserved: 0 })
  })

  it('counts it once in each of several budgets', async () => {
    const { clock, ledger, process } = world()
    const both = [{}, { as: 'day', window: 'day' as const }]
    const first = process([{ stall: true }], both)
    void first.agent.run('Hi', { session }).catch(() => {})
    await rest()
    first.lose()
    await clock.advance(10_001)
    const { state, usage } = await process(['Hello.'], both).agent.run('Hello?', { session })
    const spent = 300 + usage.inputTokens + usage.outputTokens
    expect(state).toMatchObject({ 'guard:budget:spent': spent, 'day:spent': spent })
    expect(ledger.balance(account)).toEqual({ spent, reserved: 0 })
  })

  it('frees its room after lease, where nobody opens the session again', async () => {
    const { clock, ledger, process } = world()
    const first = process([{ stall: true }], [{ lease: 60_000 }])
    void first.agent.run('Hi', { session }).catch(() => {})
    await rest()
    first.lose()
    await clock.advance(60_001)
    expect(ledger.balance(account)).toEqual({ spent: 0, reserved: 0 })
  })

  it('holds its room for as long as the call runs', async () => {
    const { clock, ledger, process } = world()
    const { agent } = process([{ stall: true }], [{ lease: 60_000 }])
    const run = agent.run('Hi', { session })
    await rest()
    for (let i = 0; i < 20; i++) await clock.advance(10_000)
    expect(ledger.balance(account)).toEqual({ spent: 0, reserved: 300 })
    run.abort()
    await run.catch(() => {})
    expect(ledger.balance(account)).toMatchObject({ reserved: 0 })
  })
})
