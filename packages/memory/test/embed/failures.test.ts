import { describe, expect, it } from 'vitest'
import type { RecallEmbedded, RecallOptions } from '../../src/recall/index.ts'
import { ada, asks, scene } from '../recall/scene.ts'
import { alpaca, bothWays, car, question, remember, today } from './conversations.ts'
import { meaningModel, meaningOf } from './meaning.ts'

type DoEmbed = NonNullable<RecallOptions['embed']>['doEmbed']

/** A world whose embedding model does something else, with what is logged and emitted. */
function world(doEmbed: DoEmbed, every?: 'turn') {
  const [warnings, events]: [string[], RecallEmbedded[]] = [[], []]
  const logger = { warn: (text: string) => void warnings.push(text), error() {} }
  const embed = meaningModel({ doEmbed })
  const one = scene({ embed, every, limit: 1 }, [], { logger })
  const agentOf: typeof one.agentOf = (steps) => {
    const made = one.agentOf(steps)
    made.agent.on('memory:embed', (event) => events.push(event))
    return made
  }
  return { ...one, agentOf, embed, warnings, events }
}

const vectors =
  (change: (vectors: number[][]) => unknown): DoEmbed =>
  async ({ values }) =>
    ({ embeddings: change(values.map(meaningOf)) }) as never

const broken: Record<string, DoEmbed> = {
  'it fails': async () => Promise.reject(new Error('503 from the provider')),
  'it throws': () => {
    throw new TypeError('no key')
  },
  'it returns nothing': async () => undefined as never,
  'it returns one vector too few': vectors((all) => all.slice(1)),
  'it returns a vector with NaN': vectors((all) => all.map((one) => [...one, Number.NaN])),
  'it returns empty vectors': vectors((all) => all.map(() => [])),
  'it returns texts': vectors((all) => all.map(String)),
  'it returns vectors of different lengths': vectors(([first = [], ...all]) => [[...first, 1], ...all]),
}

describe('memory.recall keeps the order of the words, and warns, if', () => {
  it.each(bothWays.flatMap((every) => Object.keys(broken).map((what) => [what, every] as const)))(
    '%s, every: %s',
    async (what, every) => {
      const { warnings, ...one } = world(broken[what] as DoEmbed, every)
      await remember(one)
      warnings.length = 0
      const { result, recalled } = await today(one, every)
      expect([result.status, recalled]).toEqual(['completed', [alpaca]])
      expect(warnings).toEqual([expect.stringMatching(/"memory:recall" orders what it recalls by words alone/)])
    },
  )

  it.each(bothWays)('it does not answer in time, every: %s', async (every) => {
    const { clock, agentOf, warnings, ...one } = world(() => new Promise(() => {}), every)
    await remember(scene({}, [], {}, clock, one.store))
    const steps = every === undefined ? [asks(question), 'Ok.'] : ['Ok.']
    const running = agentOf(steps).agent.session({ id: 'today', principal: ada }).run(question)
    while (one.embed.calls.length === 0) await clock.advance(1)
    await clock.advance(10_000)
    expect((await running).status).toBe('completed')
    expect(warnings).toEqual([expect.stringContaining('took longer than 10000 ms')])
  })
})

describe('An embedding of memory.recall', () => {
  it.each(bothWays)('is aborted with its turn, every: %s', async (every) => {
    const signals: (AbortSignal | undefined)[] = []
    const { clock, agentOf, ...one } = world(({ abortSignal }) => {
      signals.push(abortSignal)
      return new Promise(() => {})
    }, every)
    await remember(scene({}, [], {}, clock, one.store))
    const controller = new AbortController()
    const session = agentOf([asks(question), 'Ok.']).agent.session({ id: 'today', principal: ada })
    const running = session.run(question, { signal: controller.signal })
    while (signals.length === 0) await clock.advance(1)
    controller.abort()
    await expect(running).rejects.toMatchObject({ name: 'AbortError' })
    expect(signals[0]?.aborted).toBe(true)
  })

  it('counts its tokens in the usage of the turn, once, and those of a failed one as far as they are known', async () => {
    const failing: DoEmbed = async ({ values }) => ({
      embeddings: values.slice(1).map(meaningOf),
      usage: { tokens: 100 },
    })
    for (const every of bothWays)
      for (const [doEmbed, tokens] of [
        [async ({ values }) => ({ embeddings: values.map(meaningOf), usage: { tokens: 1_000 } }), 1_000],
        [failing, 100],
        [broken['it fails'], 0],
      ] as const satisfies readonly (readonly [DoEmbed | undefined, number])[]) {
        const one = world(doEmbed as DoEmbed, every)
        const step = { text: 'Ok.', usage: { inputTokens: 7, outputTokens: 1 } }
        await remember(scene({}, [], {}, one.clock, one.store))
        const call = { toolCalls: [{ name: 'recall', args: { question } }], usage: step.usage }
        const steps = every === undefined ? [call, step] : [step]
        const { usage } = await one.agentOf(steps).agent.session({ id: 'today', principal: ada }).run(question)
        const calls = steps.length
        expect(usage).toMatchObject({ inputTokens: 7 * calls + tokens, outputTokens: calls, calls: calls + 1 })
      }
  })

  it.each(bothWays)('is estimated from its texts if the provider counts no tokens, every: %s', async (every) => {
    const one = world(
      vectors((all) => all),
      every,
    )
    await remember(one)
    const { usage } = (await today(one, every)).result
    const words = [question, alpaca, car].join(' ').length / 4
    expect(usage.estimated).toBe(true)
    expect(usage.inputTokens).toBeGreaterThan(words)
  })

  it('takes several calls of a model with a limit, one after the other or at once', async () => {
    for (const supportsParallelCalls of [false, Promise.resolve(true)]) {
      let [running, most] = [0, 0]
      const one = scene({
        limit: 1,
        embed: {
          ...meaningModel(),
          maxEmbeddingsPerCall: Promise.resolve(2),
          supportsParallelCalls,
          async doEmbed({ values }) {
            expect(values.length).toBeLessThanOrEqual(2)
            most = Math.max(most, ++running)
            await Promise.resolve()
            running--
            return { embeddings: values.map(meaningOf) }
          },
        },
      })
      await remember(one)
      expect((await today(one, undefined)).recalled).toEqual([car])
      expect(most).toBe(supportsParallelCalls === false ? 1 : 3)
    }
  })
})
