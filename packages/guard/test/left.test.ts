import { Agent, delay, type Middleware } from '@allium/core'
import { type Ledger, memoryLedger } from '@allium/store'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { leaves, lingers, walksOut } from '../../testing/test/late.ts'
import { budget, concurrency, injection, maxModelCalls, maxToolCalls, pii } from '../src/index.ts'
import { calling, scene } from './scene.ts'

/** Runs a turn whose first call is left after 50 ms, and takes 20 ms to come back. */
async function leftOnce(
  layers: readonly Middleware[],
  { steps = [hangs, 'Done.'], outside = [leaves(50)] as readonly Middleware[], tools = [] as string[] } = {},
) {
  const clock = manualClock()
  const inside = { ...lingers(20), innermost: true }
  const { agent, model } = scene(steps, [...outside, ...layers, inside], { clock, tools })
  const session = agent.session({ id: 's' })
  const ask = async () => {
    const run = session.run('hi')
    for (let i = 0; i < 20; i++) await clock.advance(10)
    return run
  }
  return { ask, clock, model, result: await ask() }
}

const hangs: ScriptedStep = { chunks: ['abcd', 'efgh'], stall: true }
const account = JSON.stringify(['guard:budget', '', '', 's'])
const estimate = () => ({ inputTokens: 10, outputTokens: 5 })
const ways: [string, Middleware[]][] = [
  ['at a signal', [leaves(50)]],
  ['by a throw', walksOut(50)],
]

describe.each(ways)('where a call was left %s, and another one runs while it comes back', (_, outside) => {
  it('guard.budget holds nothing, and has charged both', async () => {
    const ledger = memoryLedger()
    const layer = budget({ limit: 1000, unit: 'tokens', ledger, estimate }) as Middleware
    const { result } = await leftOnce([layer], { outside })
    expect([result.text, ledger.balance(account)]).toEqual(['Done.', { spent: 5 + 2 + 15, reserved: 0 }])
    expect(result.state).toMatchObject({ 'guard:budget:spent': 22 })
  })

  it('guard.budget gives back what its ledger reserved too late', async () => {
    const ledger = memoryLedger()
    let asked = 0
    const slow: Ledger = {
      ...ledger,
      async reserve(request) {
        if (asked++ === 0) await delay(60, clock, new AbortController().signal)
        return ledger.reserve(request)
      },
    }
    const layer = budget({ limit: 1000, unit: 'tokens', ledger: slow, estimate }) as Middleware
    const clock = manualClock()
    const { agent } = scene(['Done.'], [...outside, layer], { clock })
    const run = agent.session({ id: 's' }).run('hi')
    for (let i = 0; i < 20; i++) await clock.advance(10)
    expect([(await run).text, ledger.balance(account)]).toEqual(['Done.', { spent: 15, reserved: 0 }])
  })

  it('guard.concurrency has its place back', async () => {
    const { result, ask, clock } = await leftOnce([concurrency({ limit: 1 }) as Middleware], {
      steps: [hangs, 'Done.', 'Again.'],
      outside,
    })
    expect([result.text, (await ask()).text, clock.pending]).toEqual(['Done.', 'Again.', 0])
  })

  it('guard.maxModelCalls has counted each once', async () => {
    const { result } = await leftOnce([maxModelCalls({ limit: 2 }) as Middleware], { outside })
    expect([result.text, result.state]).toMatchObject(['Done.', { 'guard:maxModelCalls:calls': 2 }])
  })
})

describe('where a tool call was left, and is made again', () => {
  it('guard.maxToolCalls has counted each once, and guard.injection trusts no result', async () => {
    const clock = manualClock()
    let calls = 0
    const look = {
      name: 'look',
      description: 'Looks',
      jsonSchema: {},
      execute: () => (calls++ === 0 ? new Promise(() => {}) : 'found'),
    }
    const layers = [leaves(50), maxToolCalls({ limit: 2 }), injection(), { ...lingers(20), innermost: true }]
    const agent = new Agent({ model: scriptedModel([calling(['look']), 'Done.']), tools: [look], clock })
    agent.use(layers as Middleware[])
    const run = agent.run('hi')
    for (let i = 0; i < 20; i++) await clock.advance(10)
    expect((await run).state).toMatchObject({ 'guard:maxToolCalls:calls': 2, 'guard:injection:untrusted': true })
  })
})

describe('the vault of guard.pii', () => {
  it('is given what an attempt could not save', async () => {
    const saved: object[] = []
    let fails = true
    const vault = {
      load: () => undefined,
      save(_: string, values: object) {
        if (!fails) return void saved.push(values)
        fails = false
        throw new Error('down')
      },
    }
    const { agent } = scene(['Hello.'], pii({ vault, onError: 'allow' }) as unknown as Middleware[])
    await agent.run('I am b@example.com')
    expect(saved).toEqual([{ '[EMAIL_1]': 'b@example.com', own: '[EMAIL_1]' }])
  })

  it('keeps the newest values, though an older save ends last', async () => {
    const clock = manualClock()
    let kept: object = {}
    let first = true
    const vault = {
      load: () => undefined,
      async save(_: string, values: object) {
        const ms = first ? 80 : 1
        first = false
        await delay(ms, clock, new AbortController().signal)
        kept = values
      },
    }
    const { agent } = scene(
      ['Mail a@example.com.', 'Mail b@example.com.'],
      [leaves(50), ...(pii({ vault, apply: ['output'] }) as unknown as Middleware[])],
      { clock },
    )
    const run = agent.run('hi')
    for (let i = 0; i < 30; i++) await clock.advance(10)
    await run
    expect(kept).toEqual({ '[EMAIL_1]': 'a@example.com', '[EMAIL_2]': 'b@example.com' })
  })
})
