import { Agent, type AlliumError, type Middleware, type PartialResult, type StoredTurn } from '@allium/core'
import { record } from '@allium/core/context'
import type { SessionStore } from '@allium/store'
import { memoryStore } from '@allium/store'
import { memoryJournal } from '@allium/store/journal'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { persist } from '../src/index.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const who = { id: 'chat', principal: { tenantId: 'acme', userId: 'ann' } }
const call: ScriptedStep = { text: 'I pay.', toolCalls: [{ name: 'pay', callId: 'c1' }] }

/** Several processes on one store: each has an agent, and a process that is lost does nothing any more. */
function world() {
  const clock = manualClock()
  const kept = memoryStore({ clock })
  const paid: string[] = []
  const process = (
    steps: readonly ScriptedStep[],
    { layers = [] as Middleware[], approval = false, hangs = false } = {},
  ) => {
    let lost = false
    const gone = new Promise<never>(() => {})
    const store = new Proxy(kept, {
      get: (target, name) => {
        const value = target[name as keyof SessionStore]
        if (typeof value !== 'function') return value
        return (...args: never[]) => (lost ? gone : (value as (...args: never[]) => unknown)(...args))
      },
    }) as SessionStore
    const model = scriptedModel(steps)
    const pay = {
      name: 'pay',
      description: 'Pays',
      jsonSchema: {},
      requireApproval: approval,
      execute: () => {
        paid.push('paid')
        return hangs ? gone : 'Done.'
      },
    }
    const agent = new Agent({ model, tools: [pay], clock, logger: { warn() {}, error() {} } })
      .use(persist({ store, lease: 1000 }))
      .use(layers)
    return { agent, session: agent.session(who), model, lose: () => (lost = true) }
  }
  const texts = async () => (await kept.load(key))?.history.map(({ content }) => content)
  return { clock, kept, paid, process, texts }
}

/** What a run rejects with. */
const failure = (run: PromiseLike<unknown>) =>
  run.then(
    () => expect.fail('The run was to fail.'),
    (error: unknown) => error as AlliumError & { partial: PartialResult },
  )

/** Lets everything come to rest that needs no time. */
async function rest(): Promise<void> {
  for (let i = 0; i < 200; i++) await Promise.resolve()
}

describe('a process that is lost in the middle of a turn', () => {
  it('leaves its question and the steps that it had done, as an interrupted turn', async () => {
    const { clock, kept, process } = world()
    const first = process([call, { stall: true }])
    void first.session.run('Pay, please.').catch(() => {})
    await rest()
    first.lose()
    await clock.advance(1500)
    const second = process(['Where were we?'])
    const { text } = await second.session.run('Hello?')
    const stored = await kept.load(key)
    expect([text, stored?.version, stored?.open]).toEqual(['Where were we?', 2, undefined])
    expect(stored?.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant'])
    expect([stored?.history[1]?.interrupted, second.session.history.length]).toEqual([true, 5])
  })

  it('is told to who has to wait for its lease, with the time until which that lasts', async () => {
    const { clock, process } = world()
    const first = process([{ stall: true }])
    void first.session.run('Hi').catch(() => {})
    await rest()
    first.lose()
    const error = await failure(process(['no']).session.run('Hi'))
    expect(error).toMatchObject({ code: 'session.busy', details: { heldUntil: clock.now() + 1000 } })
  })

  it('in an approved tool does not let the approval be used twice', async () => {
    const { clock, paid, process } = world()
    const first = process([call, 'Paid.'], { approval: true, hangs: true })
    await first.session.run('Pay.')
    void first.session.resume({ c1: { approve: true } }).catch(() => {})
    await rest()
    expect(paid).toHaveLength(1)
    first.lose()
    await clock.advance(1500)
    const second = process(['No.'], { approval: true })
    const error = await failure(second.session.resume({ c1: { approve: true } }))
    expect([error.code, paid.length]).toEqual(['approval.used', 1])
  })

  it('keeps no text that a layer takes out of the input', async () => {
    const turns: StoredTurn[] = []
    const { kept, process } = world()
    const checkpoint = kept.checkpoint.bind(kept)
    kept.checkpoint = (lease, version, turn) => {
      turns.push(turn)
      return checkpoint(lease, version, turn)
    }
    const redact: Middleware = {
      name: 'redact',
      turn(ctx, next) {
        ctx.input = [{ role: 'user', content: 'My card is ***.' }]
        return next()
      },
    }
    await process([call, 'Done.'], { layers: [redact] }).session.run('My card is 4111.')
    expect([turns.length, JSON.stringify(turns).includes('4111')]).toEqual([2, false])
    expect(turns.map(({ status, messages }) => [status, messages.length])).toEqual([
      ['running', 1],
      ['running', 2],
    ])
  })

  it('is neither stored nor held by the one that knows it has lost the run: the next life goes on', async () => {
    const { kept, process } = world()
    const journal = { ...memoryJournal(), takenOver: false }
    const { session, model } = process([{ stall: true }])
    const run = session.run('Hi', { turnId: 't', journal })
    while (model.requests.length === 0) await new Promise(setImmediate)
    journal.takenOver = true
    run.abort('Somebody else has it.')
    await expect(run).rejects.toThrow()
    const { open, version } = (await kept.load(key)) ?? {}
    expect([open?.status, version, (await kept.acquire(key, 1000)).lease !== undefined]).toEqual(['running', 0, true])
  })
})

describe('an idempotency key, in a session that is stored', () => {
  const options = { idempotencyKey: 'k1' }

  it('is one turn and one bill in all processes: asked again, a run ends as it did', async () => {
    const { process } = world()
    const first = process([call, 'Done.'])
    const { turnId, usage, messages } = await first.session.run('Pay.', options)
    const second = process(['never'])
    const run = second.session.run('Pay.', options)
    let shown = ''
    for await (const event of run) if (event.type === 'text-delta') shown += event.delta
    expect(await run).toMatchObject({ text: 'Done.', status: 'completed', turnId, usage, messages })
    expect([shown, second.model.calls, second.session.history.length]).toEqual(['Done.', 0, 4])
    expect((await run).toolCalls).toMatchObject([{ callId: 'c1', result: { status: 'ok', content: 'Done.' } }])
  })

  it('for another input is refused', async () => {
    const { process } = world()
    await process(['one']).session.run('Pay 1.', options)
    const error = await failure(process(['two']).session.run('Pay 2.', options))
    expect(error).toMatchObject({ code: 'run.key_reused' })
  })

  it('of a run that failed gives its failure, with what there was', async () => {
    const { process } = world()
    const fails: ScriptedStep[] = [call, { error: new Error('Bearer sk-secret') }]
    const error = await failure(process(fails).session.run('Pay.', options))
    const again = await failure(process(['never']).session.run('Pay.', options))
    expect(again).toMatchObject({ partial: { messages: error.partial.messages, turnId: error.partial.turnId } })
    expect([again.code, again.message.includes('sk-secret')]).toEqual(['run.failed', false])
  })

  it('of a run that was interrupted gives run.interrupted, and bills nothing more', async () => {
    const { clock, process } = world()
    const first = process([{ stall: true }])
    void first.session.run('Hi', options).catch(() => {})
    await rest()
    first.lose()
    await clock.advance(1500)
    const second = process(['never'])
    const error = await failure(second.session.run('Hi', options))
    expect([error.code, error.partial.messages.length, second.model.calls]).toEqual(['run.interrupted', 1, 0])
  })
})

describe('what a turn records', () => {
  const bills: Middleware = {
    name: 'bills',
    async model(ctx, next) {
      record(ctx, 'bill', { call: ctx.callIndex })
      return next()
    },
  }

  it('is in the outbox once the turn is stored, and not before', async () => {
    const { kept, process } = world()
    const seen: number[] = []
    const looks: Middleware = {
      name: 'looks',
      async turn(_, next) {
        await next()
        seen.push((await kept.outbox.claim('test', 10, 0)).length)
      },
    }
    const { turnId } = await process([call, 'Done.'], { layers: [looks, bills] }).session.run('Pay.')
    const taken = await kept.outbox.claim('test', 10, 1000)
    expect(seen).toEqual([0])
    expect(taken.map(({ topic, data, tenant, turnId }) => ({ topic, data, tenant, turnId }))).toEqual([
      { topic: 'bill', data: { call: 0 }, tenant: 'acme', turnId },
      { topic: 'bill', data: { call: 1 }, tenant: 'acme', turnId },
    ])
  })

  it('is refused where it cannot be kept', async () => {
    const { process } = world()
    const wrong: Middleware = { name: 'wrong', turn: (ctx) => record(ctx, 'bill', { call: () => 1 }) as never }
    const error = await failure(process([], { layers: [wrong] }).session.run('Hi'))
    expect(error).toMatchObject({ code: 'state.invalid', details: { key: 'call' } })
  })
})
