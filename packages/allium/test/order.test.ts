import { describe, expect, it } from 'vitest'
import * as guard from '../src/guard.ts'
import { Agent, type AnyMiddleware } from '../src/index.ts'
import * as memory from '../src/memory.ts'
import * as model from '../src/model.ts'
import * as observe from '../src/observe.ts'
import { trace } from '../src/otel.ts'
import { promptCache } from '../src/prompt-cache.ts'
import { scriptedModel } from '../src/testing.ts'
import * as tools from '../src/tools.ts'

type Layers = AnyMiddleware | readonly AnyMiddleware[]

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const small = scriptedModel([])
const redacting = () => guard.content({ keywords: ['gunpowder'], onFinding: 'redact' })

describe('the order of the packs’ layers', () => {
  it.each<[why: string, outer: Layers, inner: Layers, severity: 'error' | 'warn', reason: string]>([
    ['a cache keeps raw text', redacting(), model.cache(), 'error', 'or the cache keeps raw text'],
    ['raw text is logged', guard.pii(), observe.log({ logger: silent }), 'error', 'or raw text is logged'],
    ['raw text is shown', guard.pii(), observe.console(), 'error', 'or raw text is logged'],
    ['raw answers are traced', trace(), guard.pii(), 'error', '"guard:pii:calls" asks to be inside "observe:trace"'],
    ['raw text is audited', guard.pii(), observe.audit({ sink() {} }), 'error', 'or raw text is stored'],
    ['the key is not what is sent', memory.truncate({ maxMessages: 9 }), model.cache(), 'error', 'or the key is not'],
    ['the key is of what was compacted', memory.compact(), model.cache(), 'error', 'or the key is not what is sent'],
    ['the key has not the settings', settings(), model.cache(), 'error', 'or the key is not what is sent'],
    ['invalid answers are kept', model.cache(), structured(), 'error', 'or invalid answers are kept'],
    [
      'other arguments are checked',
      guard.pii(),
      guard.policy({ deny: ['drop'] }),
      'error',
      'or other arguments run than were',
    ],
    [
      'other arguments are approved',
      guard.pii(),
      guard.approve({ tools: ['pay'] }),
      'error',
      'or other arguments run than were',
    ],
    [
      'a result gets round a policy',
      guard.policy({ deny: ['drop'] }),
      toolCache(),
      'error',
      'or a hit gets round the policy',
    ],
    ['hits do not count', rateOfCalls(), model.cache(), 'warn', 'or hits go uncounted'],
    ['each attempt is judged', judge(), model.retry(), 'warn', 'or each attempt is checked again'],
    ['each attempt is searched', guard.output({ check: () => true }), model.retry(), 'warn', 'or each attempt is'],
    ['a fallback goes on from another model', route(), model.fallback({ models: [small] }), 'error', 'asks to be'],
    ['attempts end late', model.retry(), model.breaker(), 'error', 'asks to be inside "model:retry"'],
    ['a hit opens no circuit', model.cache(), model.breaker(), 'error', 'asks to be inside "model:cache"'],
    ['a note passes for the newest input', memory.compact(), memory.plan(), 'error', 'asks to be inside'],
  ])('is found to be wrong where %s', (_, outer, inner, severity, reason) => {
    expect(check(outer, inner)).toEqual([])
    const [finding] = check(inner, outer)
    expect(finding).toMatchObject({ severity, layers: [nameIn(outer), nameIn(inner)].map(() => expect.any(String)) })
    expect(finding?.message).toMatch(/is outside .* (Register|declare|let) /)
    expect(finding?.message).toContain(reason)
  })

  it.each<[string, Layers]>([
    ['guard.budget', guard.budget({ limit: 1 })],
    ['observe.usage', observe.usage()],
    ['memory.persist', memory.persist()],
    ['observe.onion', observe.onion()],
    ['observe.duration', observe.duration()],
    ['guard.maxModelCalls', guard.maxModelCalls({ limit: 9 })],
    ['model.promptCache', model.promptCache()],
  ])('is right for %s, wherever it is registered', (_, layer) => {
    for (const other of [
      model.retry(),
      model.cache(),
      guard.pii(),
      redacting(),
      guard.policy({ deny: ['drop'] }),
      memory.compact(),
    ]) {
      expect(check(layer, other)).toEqual([])
      expect(check(other, layer)).toEqual([])
    }
  })

  it('warns of layers that change the beginning of requests, if the agent has a layer for the prompt cache', () => {
    const truncate = memory.truncate({ maxMessages: 9 })
    const picking = model.selectTools({ model: small })
    const fixed = model.selectTools({ tools: ['search'], as: 'fixed' })
    expect(check(truncate, picking, fixed, model.promptCache())).toMatchObject([
      { severity: 'warn', layers: ['memory:truncate'] },
      { severity: 'warn', layers: ['model:selectTools'] },
    ])
    expect(check(memory.compact(), fixed, promptCache())).toEqual([])
    expect(check(truncate, promptCache())[0]?.message).toContain('changes the beginning of requests')
    expect(check(truncate, picking)).toEqual([])
  })

  it('is a question for layers of an application, too', () => {
    const meter: AnyMiddleware = { name: 'my-meter', order: { is: ['meters'] }, model: (_, next) => next() }
    const cache: AnyMiddleware = { name: 'my-cache', order: { is: ['caches'] }, turn: (_, next) => next() }
    const filter: AnyMiddleware = { name: 'my-filter', order: { is: ['redacts'] }, model: (_, next) => next() }
    expect(check(meter, model.retry())).toMatchObject([{ severity: 'error', layers: ['model:retry', 'my-meter'] }])
    expect(check(meter, model.cache())).toMatchObject([{ severity: 'error', layers: ['model:cache', 'my-meter'] }])
    expect(check(cache, filter)).toMatchObject([{ severity: 'error', layers: ['my-filter', 'my-cache'] }])
  })
})

function check(...layers: Layers[]) {
  return new Agent({ model: small, orderCheck: 'off' }).use(layers.flat() as AnyMiddleware[]).check()
}

function nameIn(layers: Layers): string | undefined {
  return [layers].flat().at(0)?.name
}

function settings() {
  return model.settings({ defaults: { temperature: 0 } })
}
function structured() {
  return model.structured({ schema: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } } })
}
function toolCache() {
  return tools.cache({ tools: ['search'] })
}
function rateOfCalls() {
  return guard.rateLimit({ limit: 9, window: 'minute', scope: 'model', per: 'session' })
}
function judge() {
  return guard.judge({ model: small, rubric: 'Be kind.' })
}
function route() {
  return model.route({ to: () => undefined })
}
