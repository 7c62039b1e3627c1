import { Agent, type Usable } from '@allium/core'
import { SingleFlight } from '@allium/shared/resilience'
import { type MemoryJournal, memoryJournal } from '@allium/store/journal'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { breaker, cache, fallback, memoryKeyValue, retry, route, selectTools } from '../src/index.ts'

const silent = { warn() {}, error() {} }
const down = Object.assign(new Error('down'), { status: 503 })
const asks = { toolCalls: [{ name: 'work', callId: 'a' }] }

/** A process with layers of its own over a journal; it tells what it physically did. */
function process(journal: MemoryJournal, layers: Usable[], steps: ScriptedStep[], clock = manualClock()) {
  const model = scriptedModel(steps, { id: 'own' })
  let worked = 0
  const tools = ['work', 'rest'].map((name) => ({
    name,
    description: name,
    jsonSchema: {},
    execute: () => `${++worked}`,
  }))
  const agent = new Agent({ model, tools, journal, clock, ids: () => 'x', logger: silent, orderCheck: 'off' })
  const run = agent.use(layers).run('go')
  return { model, run, agent, worked: () => worked, clock }
}

/** Runs until so many steps are recorded, and gives the journal as the next process finds it. */
async function killed(steps: number, layers: Usable[], script: ScriptedStep[]): Promise<MemoryJournal> {
  const journal = memoryJournal()
  const dead = journal.killAfter(steps)
  process(journal, layers, script).run.catch(() => {})
  await dead
  return journal.reopen()
}

describe('a run that is replayed', () => {
  it('model.cache: a call that missed is no hit in the replay, so that its tools do not run again', async () => {
    const store = memoryKeyValue()
    const journal = await killed(3, [cache({ store })], [asks, 'Done.'])
    const again = process(journal, [cache({ store })], ['Done.'])
    await again.run
    expect([again.worked(), again.model.calls]).toEqual([0, 1])
  })

  it('model.cache: a call that was a hit is answered so again, whatever the store has by then', async () => {
    const store = memoryKeyValue()
    await process(memoryJournal(), [cache({ store })], ['Kept.']).run
    const journal = await killed(1, [cache({ store })], [])
    const again = process(journal, [cache()], [])
    expect([(await again.run).text, again.model.calls]).toEqual(['Kept.', 0])
  })

  it('model.cache: who waits for a call that another had begun does so again, and does not get ahead of it', async () => {
    const begun: string[] = []
    const life = (journal: MemoryJournal, answers: boolean) => {
      const flights = new SingleFlight<string>()
      const find = async (name: string) => {
        const once = <T>(key: string, fn: () => T) => journal.step(`${name}:${key}`, fn, () => {})
        const ctx = { once, signal: new AbortController().signal } as unknown as Parameters<typeof flights.find>[1]
        const found = await flights.find('key', ctx, async () => undefined)
        if ('value' in found) return
        begun.push(name)
        if (answers) found.resolve('found')
      }
      return Promise.all([find('a'), find('b')])
    }
    const journal = memoryJournal()
    void life(journal, false)
    while (journal.recorded.length < 1) await new Promise(setImmediate)
    await life(journal.reopen(), true)
    expect(begun).toEqual(['a', 'a'])
  })

  it('model.breaker: a call that was turned away is turned away, although the circuit is another one', async () => {
    const other = scriptedModel(['Other.'], { id: 'other' })
    const layers = () => [fallback({ models: [other] }), breaker({ threshold: 1 })]
    const [journal, open] = [memoryJournal(), layers()]
    await process(memoryJournal(), open.slice(1), [down]).run.catch(() => {})
    await process(journal, open, []).run
    const again = process(journal.reopen(), layers(), ['Own.'])
    expect([(await again.run).text, again.model.calls, other.calls]).toEqual(['Other.', 0, 1])
  })

  it('model.breaker: a failure that is replayed says nothing of how the model is, and opens no circuit', async () => {
    const again: Usable = { name: 'again', model: (_, next) => next().catch(() => next()) }
    const layers = () => [again, breaker({ threshold: 1 })]
    const journal = await killed(2, layers(), [down])
    const next = process(journal, layers(), ['Own.'])
    expect([(await next.run).text, next.model.calls]).toEqual(['Own.', 1])
  })

  it('model.retry: waits for what is left of the wait, and asks chance once', async () => {
    const chance: number[] = []
    const layer = () => retry({ attempts: 2, delay: 1000, random: () => chance.push(1) - 1 })
    const journal = await killed(2, [layer()], [down])
    const clock = manualClock()
    clock.advance(5000)
    const again = process(journal, [layer()], ['Up.'], clock)
    expect([(await again.run).text, chance.length]).toEqual(['Up.', 1])
  })

  it('model.fallback: goes on from an error as it went on', async () => {
    const flags = [true, false]
    const layer = () => fallback({ models: [scriptedModel(['Other.'])], when: () => flags.shift() ?? false })
    const journal = await killed(2, [layer()], [down])
    expect((await process(journal, [layer()], []).run).text).toBe('Other.')
  })

  it('model.route and model.selectTools: choose what they chose', async () => {
    const flags = ['first', 'second']
    const to = scriptedModel(['First.', 'First.'], { id: 'first' })
    const layers = (flag = flags.shift()) => [
      route({ rules: [{ when: async () => flag === 'first', model: to }] }),
      selectTools({ tools: async () => (flag === 'first' ? ['work'] : ['rest']) }),
    ]
    const journal = await killed(2, layers(), [])
    const again = process(journal, layers(), ['Own.'])
    expect([(await again.run).text, to.requests.at(-1)?.tools.map(({ name }) => name)]).toEqual(['First.', ['work']])
  })

  it('model.route: a string that a function gave is the choice again', async () => {
    const names = ['a', 'b']
    const boot = (journal: MemoryJournal) => {
      const resolveModel = (name: string) => scriptedModel([`${name}.`], { id: name })
      const layer = route({ to: async () => names.shift() })
      return new Agent({ model: 'own', resolveModel, journal, ids: () => 'x', logger: silent }).use(layer).run('go')
    }
    const journal = memoryJournal()
    const dead = journal.killAfter(1)
    boot(journal).catch(() => {})
    await dead
    expect((await boot(journal.reopen())).text).toBe('a.')
  })
})
