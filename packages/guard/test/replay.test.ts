import { Agent, AlliumError, type Middleware, type ModelChunk, type TypedMiddleware } from '@allium/core'
import { memoryLedger } from '@allium/store'
import { type MemoryJournal, memoryJournal } from '@allium/store/journal'
import { manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { budget, injection, judge, pii, type RateStore, rateLimit } from '../src/index.ts'

const clockAt = (ms: number) => {
  const clock = manualClock()
  clock.advance(ms)
  return clock
}

/** Runs until so many steps are recorded, then again in another process, later. */
async function replayed(steps: number, layer: () => TypedMiddleware<{}>, later = 0) {
  const boot = (journal: MemoryJournal, at: number) => {
    const setup = { journal, clock: clockAt(at), ids: () => 'x', logger: { warn() {}, error() {} } }
    return new Agent({ ...setup, model: scriptedModel(['Done.']) }).use(layer()).session({ id: 's' }).run('go')
  }
  const journal = memoryJournal()
  const dead = journal.killAfter(steps)
  boot(journal, 0).catch(() => {})
  await dead
  return boot(journal.reopen(), later)
}

describe('a run that is replayed', () => {
  it.each(['turn', 'model'] as const)('guard.rateLimit: a %s that was counted is not counted again', async (scope) => {
    const counted: string[] = []
    const store = () => ({ consume: async (key: string) => counted.push(key), reward: async () => {} })
    await replayed(1, () => rateLimit({ limit: 5, scope, store }))
    expect(counted).toHaveLength(1)
  })

  it('guard.rateLimit: counts once in the ledger of a store too, and is not refused where it passed', async () => {
    let room = 1
    const store = () => ({
      consume: async () => (room-- > 0 ? room : Promise.reject({ msBeforeNext: 1000 })),
      reward: async () => {},
    })
    expect((await replayed(1, () => rateLimit({ limit: 1, store }))).status).toBe('completed')
  })

  it('guard.rateLimit: a replayed call that is abandoned refunds the receipt of the first run', async () => {
    const refunded: unknown[] = []
    const store = (): RateStore => ({
      consume: async () => 'receipt 1',
      reward: async () => {},
      undo: async (receipt) => refunded.push(receipt),
    })
    const abandoned: Middleware = {
      name: 'abandoned',
      model: () => Promise.reject(new AlliumError('layer.abandoned', 'An outer layer continued without this call.')),
    }
    const life = (journal: MemoryJournal, layers: readonly Middleware[]) =>
      new Agent({ model: scriptedModel(['Done.']), journal, ids: () => 'x' })
        .use([rateLimit({ limit: 1, scope: 'model', store }), ...layers])
        .run('go')
    const journal = memoryJournal()
    const dead = journal.killAfter(1)
    life(journal, []).catch(() => {})
    await dead
    await expect(life(journal.reopen(), [abandoned])).rejects.toThrow()
    expect(refunded).toEqual(['receipt 1'])
  })

  it('guard.judge: what was judged is not judged again', async () => {
    const court = scriptedModel(['{"score":1,"why":"kind"}'])
    const { status, state } = await replayed(1, () => judge({ model: court, rubric: 'Is kind.', apply: ['input'] }))
    expect([status, court.calls, (state as Record<string, unknown>)['guard:judge:tokens']]).toEqual([
      'completed',
      1,
      15,
    ])
  })

  it('guard.judge: a call of the judge that ended is not paid again where another one was under way', async () => {
    const asked: string[] = []
    const judged = (life: number) => ({
      id: 'court',
      async *stream(): AsyncGenerator<ModelChunk> {
        asked.push(`life ${life}`)
        if (asked.length === 1) throw Object.assign(new Error('busy'), { status: 503 })
        if (life === 1) await new Promise(() => {})
        yield { type: 'text-delta', delta: '{"score":1}' }
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 3, outputTokens: 2 } }
      },
    })
    const again: Middleware = { name: 'again', model: (_, next) => next().catch(() => next()) }
    const life = (journal: MemoryJournal, n: number) => {
      const layer = judge({ model: judged(n), rubric: 'Is kind.', apply: ['input'], use: [again] })
      return new Agent({ model: scriptedModel(['Done.']), journal, ids: () => 'x' }).use(layer).run('go')
    }
    const journal = memoryJournal()
    life(journal, 1).catch(() => {})
    while (asked.length < 2) await new Promise(setImmediate)
    expect((await life(journal.reopen(), 2)).status).toBe('completed')
    expect(asked).toEqual(['life 1', 'life 1', 'life 2'])
  })

  it('guard.injection, guard.pii: what is marked and hashed with a secret that was drawn is so again', async () => {
    const script = ['a', 'b', undefined].map((callId) => (callId ? { toolCalls: [{ name: 'look', callId }] } : 'Done.'))
    const asked: string[] = []
    const life = (journal: MemoryJournal, from: number) => {
      const model = scriptedModel(
        script.slice(from).map((step) => ({ messages }) => {
          asked.push(
            JSON.stringify(messages)
              .match(/untrusted-[\w-]+|\[EMAIL:\w+/g)
              ?.sort()
              .join() ?? '',
          )
          return step
        }),
      )
      const tools = [{ name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'seen' }]
      const layers = [pii({ onFinding: 'hash', types: ['email'] }), injection()]
      return new Agent({ model, tools, journal, ids: () => 'x' }).use(layers).run('I am ada@example.org.')
    }
    const journal = memoryJournal()
    const dead = journal.killAfter(6)
    life(journal, 0).catch(() => {})
    await dead
    expect((await life(journal.reopen(), 2)).status).toBe('completed')
    const marks = asked.map((one) => new Set(one.split(',')))
    expect([asked.length, marks[1]?.size, marks[2]]).toEqual([3, 2, marks[1]])
  })

  it('guard.budget: a turn is charged to the window in which it began', async () => {
    const ledger = memoryLedger()
    const clock = clockAt(86_000_000)
    const model = scriptedModel([
      () => {
        clock.advance(1_000_000)
        return { toolCalls: [{ name: 'work' }] }
      },
      'Done.',
    ])
    const tools = [{ name: 'work', description: 'Works', jsonSchema: {}, execute: () => 'done' }]
    const layer = budget({ limit: 1e6, unit: 'tokens', window: 'day', ledger })
    await new Agent({ model, tools, clock }).use(layer).session({ id: 's' }).run('go')
    expect(await ledger.balance('["guard:budget","","","s","1970-01-01"]')).toEqual({ spent: 30, reserved: 0 })
  })

  it('guard.budget: a call of a judge that was cut is posted by its estimate, beside the one in its place', async () => {
    const ledger = memoryLedger()
    const life = async (sentence: { text: string; stall?: boolean }, journal: MemoryJournal) => {
      const estimate = () => ({ inputTokens: 100, outputTokens: 50 })
      const money = budget({ limit: 1e6, unit: 'tokens', per: () => 'a', ledger, estimate })
      const court = scriptedModel([sentence])
      const layer = judge({ model: court, rubric: 'Is kind.', apply: ['input'], use: [money] })
      const agent = new Agent({ model: scriptedModel(['Done.']) }).use(layer)
      const run = agent.session({ id: 's' }).run('go', { turnId: 't', journal })
      if (sentence.stall !== true) return run
      run.catch(() => {})
      while (court.requests.length === 0) await new Promise(setImmediate)
      return undefined
    }
    const sentence = { text: '{"score":1,"why":"kind"}' }
    const journal = memoryJournal()
    await life({ text: '{"score"', stall: true }, journal)
    const { status } = (await life(sentence, journal.reopen())) ?? {}
    expect([status, await ledger.balance('a')]).toEqual(['completed', { spent: 150 + 15, reserved: 0 }])
  })

  describe('guard.budget', () => {
    const held = { inputTokens: 100, outputTokens: 50 }
    /** Lives of one run, each with a model of its own; what is spent and held behind them. */
    async function lives(...models: { text: string; stall?: boolean }[]) {
      const ledger = memoryLedger()
      const cut: unknown[] = []
      let journal = memoryJournal()
      for (const step of models) {
        const layer = budget({ limit: 1e6, unit: 'tokens', per: () => 'a', ledger, estimate: () => held })
        const model = scriptedModel([step])
        const run = new Agent({ model }).use(layer).session({ id: 's' }).run('go', { turnId: 't', journal })
        // Nobody leaves it: its process is lost, and what it began goes on as far as it may.
        const events = run[Symbol.asyncIterator]()
        for (;;) {
          const { value, done } = await events.next()
          if (value?.type === 'guard:budget:cut') cut.push(value)
          if (done === true || (step.stall === true && value?.type === 'text-delta')) break
        }
        journal = journal.reopen()
      }
      return { ...(await ledger.balance('a')), cut }
    }

    it('posts a call that was cut by its estimate, beside the one that was made in its place', async () => {
      const used = (await lives({ text: 'Done.' })).spent
      const { spent, reserved, cut } = await lives({ text: 'D', stall: true }, { text: 'Done.' })
      expect([spent, reserved]).toEqual([150 + used, 0])
      expect(cut).toMatchObject([{ cut: expect.any(String), calls: [{ account: 'a', amount: 150 }], estimated: true }])
    })

    it('posts each call of a run that was cut again and again', async () => {
      const used = (await lives({ text: 'Done.' })).spent
      const hangs = { text: 'D', stall: true }
      const { spent, reserved } = await lives(hangs, hangs, hangs, { text: 'Done.' })
      expect([spent, reserved]).toEqual([3 * 150 + used, 0])
    })

    it('posts a call once that was recorded, however often it is replayed', async () => {
      const used = (await lives({ text: 'Done.' })).spent
      const { spent, cut } = await lives({ text: 'Done.' }, { text: 'Not asked.' }, { text: 'Not asked.' })
      expect([spent, cut]).toEqual([used, []])
    })
  })
})
