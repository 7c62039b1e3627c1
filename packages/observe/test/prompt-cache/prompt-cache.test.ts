import { Agent, delegate, type Middleware, type ToolExecution } from '@allium/core'
import { manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { metrics } from '../../src/otel.ts'
import { promptCache } from '../../src/prompt-cache.ts'
import { memoryMetrics } from '../otel/measuring.ts'
import { type Layer, tool } from '../scene.ts'
import { calls, lorem, search, watched } from './watching.ts'

/** Puts a text that differs from call to call at a place among the messages. */
function clockAt(index: number, name = `clock-at-${index}`): Middleware {
  let now = 1_000
  return {
    name,
    model(ctx, next) {
      ctx.messages.splice(index, 0, { role: 'user', content: `It is ${now++}.` })
      return next()
    },
  }
}
const answers = (count: number) => Array.from({ length: count }, (_, i) => lorem(60, `answer${i}`))
const question = lorem(60, 'question')

describe('observe.promptCache', () => {
  it('names each of two layers that break it, the one with the larger loss as the first difference', async () => {
    const { session, events } = watched([clockAt(3, 'late'), clockAt(1, 'early')], answers(4))
    for (let turn = 0; turn < 4; turn++) await session.run(question)
    const [last] = events.slice(-1)
    expect(last?.breaks.map(({ layer }) => layer)).toEqual(['late', 'early'])
    expect(last?.first.layer).toBe('early')
  })

  it('names no layer inside for a difference that an outer layer made', async () => {
    const handbook: Middleware = {
      name: 'handbook',
      model(ctx, next) {
        ctx.messages.splice(2, 0, { role: 'user', content: lorem(500, 'chapter') })
        return next()
      },
    }
    const { session, events } = watched([clockAt(1), handbook], answers(3))
    for (let turn = 0; turn < 3; turn++) await session.run(question)
    expect(events.flatMap(({ breaks }) => breaks.map(({ layer }) => layer))).toEqual(['clock-at-1', 'clock-at-1'])
  })

  it('names a layer of a single run, also in the call after it', async () => {
    const { session, events } = watched([], answers(3))
    const note: Middleware = {
      name: 'note',
      model(ctx, next) {
        ctx.messages.unshift({ role: 'system', content: 'Be brief.' })
        return next()
      },
    }
    await session.run(question)
    await session.run(question, { use: [note] })
    await session.run(question)
    expect(events.map(({ first }) => first.layer)).toEqual(['note', 'note'])
  })

  it('reports nothing when a session returns to an earlier turn', async () => {
    const { session, events } = watched([], answers(4))
    const { turnId } = await session.run(question)
    await session.run(lorem(80, 'second'))
    await session.rewind({ to: turnId })
    await session.run(lorem(400, 'other'))
    expect(events).toEqual([])
  })

  it('estimates what the lost tokens cost, from the usage of the call', async () => {
    const steps = answers(2).map((text) => ({ text, usage: { inputTokens: 1_000, outputTokens: 10 } }))
    const { session, events } = watched([clockAt(1)], steps)
    await session.run(question)
    await session.run(question)
    const { cost = 0, first, promptTokens = 1 } = events[0] ?? {}
    // Input costs $10 for a million tokens, and $1 from the cache.
    expect(cost).toBeCloseTo(((first?.lostTokens ?? 0) / promptTokens) * 1_000 * 9e-6, 5)
    expect(events[0]).not.toHaveProperty('confirmed')
  })

  it.each([
    [200, true],
    [900, false],
  ])('compares the estimate with the %i tokens that the provider has read from its cache', async (read, confirmed) => {
    const usage = { inputTokens: 1_000, outputTokens: 10, cachedInputTokens: read }
    const steps = answers(2).map((text) => ({ text, usage }))
    const { session, events, warnings } = watched([clockAt(1)], steps)
    await session.run(question)
    await session.run(question)
    expect(events[0]).toMatchObject({ cachedTokens: read, confirmed })
    expect(warnings).toHaveLength(confirmed ? 1 : 0)
  })

  it('logs each layer once, with the token, the loss and the cost', async () => {
    const { session, warnings } = watched([clockAt(1)], answers(4))
    for (let turn = 0; turn < 4; turn++) await session.run(question)
    expect(warnings).toHaveLength(1)
    const expected = /^The layer "clock-at-1" breaks the .* in its conversation, from about token \d+ of \d+ on/
    expect(warnings[0]).toMatch(expected)
  })

  it('watches only the sessions that called a model last', async () => {
    const { agent, events } = watched([clockAt(1)], answers(6), { watch: { maxSessions: 1 } })
    for (const id of ['a', 'b', 'a', 'b']) await agent.session({ id }).run(question)
    expect(events).toEqual([])
    await agent.session({ id: 'b' }).run(question)
    expect(events).toHaveLength(1)
  })

  it('reports losses from a number of tokens on', async () => {
    const { session, events } = watched([clockAt(1)], answers(2), { watch: { minLostTokens: 10_000 } })
    await session.run(question)
    await session.run(question)
    expect(events).toEqual([])
  })

  it('names inherited and own layers of a sub-agent that has it, too, and none of one that has not', async () => {
    for (const isThere of [true, false]) {
      const watch = promptCache()
      const own = clockAt(1, 'own')
      const digger = agentOf('digger', [calls('search'), calls('search'), 'Found.'], isThere ? [own, watch] : [own])
      const execute = async (_: unknown, ctx: ToolExecution) => (await delegate(ctx, digger, question))?.text
      const inherited = { ...clockAt(0, 'inherited'), inherit: true, innermost: true }
      const lead = agentOf('lead', [calls('research'), 'ok'], [inherited, watch], [tool('research', execute as never)])
      const named = new Set<string | undefined>()
      digger.on('observe:promptCache', ({ breaks }) => void breaks.forEach(({ layer }) => void named.add(layer)))
      await lead.run(question)
      expect([...named]).toEqual(isThere ? ['own', 'inherited'] : [])
    }
  })

  it('counts lost tokens by layer as a metric', async () => {
    const measured = memoryMetrics()
    const layers = [
      clockAt(1),
      metrics({ meter: measured.meter }),
      metrics({ meter: measured.meter, names: '1.45', as: 'old' }),
    ]
    const { session, events } = watched(layers, answers(2))
    await session.run(question)
    await session.run(question)
    const about = { 'gen_ai.provider.name': 'acme', 'gen_ai.request.model': 'm1', 'allium.layer': 'clock-at-1' }
    const more = { 'allium.prompt_cache.part': 'messages', 'allium.prompt_cache.intended': false }
    expect(await measured.points('allium.prompt_cache.lost_tokens')).toEqual([
      [{ ...about, ...more }, events[0]?.first.lostTokens],
    ])
  })

  it('reports without a cost when the function for prices fails', async () => {
    const prices = () => {
      throw new Error('down')
    }
    const { session, events } = watched([clockAt(1)], answers(2), { watch: { prices } })
    await session.run(question)
    expect((await session.run(question)).status).toBe('completed')
    expect([events.length, events[0]?.cost]).toEqual([1, undefined])
  })
})

function agentOf(name: string, steps: Parameters<typeof scriptedModel>[0], layers: Layer[], tools = [search]) {
  const options = { clock: manualClock(), instructions: lorem(100, 'rule'), orderCheck: 'off', logger: silent } as const
  const agent = new Agent({ name, model: scriptedModel(steps), tools, ...options })
  for (const layer of layers) agent.use(layer as Middleware)
  return agent
}

const silent = { warn() {}, error() {} }
