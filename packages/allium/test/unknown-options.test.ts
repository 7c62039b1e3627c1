import { scriptedModel } from '@allium/testing'
import { Agent, canary, failClosed, fromAiSdk, shadow } from 'allium'
import { createResolver } from 'allium/ai-sdk'
import * as guard from 'allium/guard'
import * as hooks from 'allium/hooks'
import * as memory from 'allium/memory'
import * as observe from 'allium/observe'
import * as tools from 'allium/tools'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const layer = { name: 'a', turn: (_: unknown, next: () => Promise<void>) => next() }
const tool = { name: 'pay', description: 'Pays.', schema: z.object({}), execute: () => 'paid' }
const model = scriptedModel([])
/** What a caller writes in JavaScript. */
const js = (options: object) => options as never

describe('an option that does not exist is refused by', () => {
  test.each<[string, () => unknown]>([
    ['new Agent()', () => new Agent(js({ model, stor: {} }))],
    ['tools.function()', () => tools.function(js({ ...tool, needsApproval: true }))],
    ['tools.agent()', () => tools.agent(js({ ...tool, agent: new Agent({ model }), need: 1 }))],
    ['canary()', () => canary(layer, js({ percent: 5, of: 'user' }))],
    ['failClosed()', () => failClosed(layer, js({ reson: '' }))],
    ['shadow()', () => shadow(layer, js({ recrd() {} }))],
    ['hooks.from()', () => hooks.from({ onStart() {} }, js({ name: 'a' }))],
    ['createResolver()', () => createResolver(js({ provider: {} }))],
    ['fromAiSdk()', () => fromAiSdk({ provider: 'p', modelId: 'm' } as never, js({ name: 'a' }))],
    ['auditFile()', () => observe.auditFile('a', js({ sync: true }))],
    ['verify()', () => observe.verify('a', js({ heads: 1 }))],
    ['exportSessions()', () => memory.exportSessions({} as never, js({ tenant: 'a', user: 'b' })).next()],
    ['importSessions()', () => memory.importSessions({} as never, [], js({ record: true }))],
    ['a detector', () => guard.content(js({ patterns: [{ type: 'a', pattern: /a/, max: 5 }] }))],
    ['phones of guard.pii()', () => guard.pii(js({ phones: { find() {}, country: ['US'] } }))],
    ['fallbackPrice', () => guard.budget(js({ limit: 1, fallbackPrice: { input: 1, output: 1, cached: 1 } }))],
    ['a price', () => guard.budget(js({ limit: 1, prices: { 'a/*': { input: 1, output: 1, cached: 1 } } }))],
    ['scriptedModel()', () => scriptedModel([js({ toolCals: [] })])],
    ['a scripted call', () => scriptedModel([js({ toolCalls: [{ name: 'pay', arguments: {} }] })])],
  ])('%s', async (_, make) => {
    const error = await Promise.resolve()
      .then(make)
      .catch((error: unknown) => error)
    expect(error).toMatchObject({ name: 'AlliumError', message: expect.stringMatching(/does not know the option /) })
  })
})

test.each([
  ['memory', 'Pass a store: { store: sqlite("allium.db") }.'],
  ['handoffs', 'A sub-agent is a tool: agent.use(tools.agent({ agent })).'],
  ['scorers', 'Scores come from a layer: agent.use(guard.judge({ model, rubric })).'],
  ['skills', 'Available: tools, ids, model, settings, store,'],
  ['stor', 'Did you mean "store"?'],
])('new Agent() says what to use in place of %s, and knows its own option store', (name, hint) => {
  const start = `new Agent() does not know the option ${name}. ${hint}`
  expect(() => new Agent(js({ model, [name]: [] }))).toThrow(
    expect.objectContaining({ message: expect.stringContaining(start) }),
  )
})

test.each([undefined, null, {}])('new Agent() without options says that it needs a model: %j', (given) => {
  expect(() => new Agent(given as never)).toThrow(
    expect.objectContaining({ code: 'agent.options', message: expect.stringContaining('needs a model') }),
  )
})
