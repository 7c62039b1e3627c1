import type { Middleware, Model, Usable } from '@allium/core'
import { random } from '../../../core/test/explore/noise.ts'
import * as guard from '../../src/guard.ts'
import { canary, when } from '../../src/index.ts'
import * as memory from '../../src/memory.ts'
import * as model from '../../src/model.ts'
import * as observe from '../../src/observe.ts'
import * as tools from '../../src/tools.ts'
import type { ProcessClock } from './clock.ts'
import type { Plan } from './plan.ts'
import type { World } from './world.ts'

export interface Parts {
  plan: Plan
  world: World
  did: (key: string) => Promise<number>
  clock: ProcessClock
  model(name: string): Model
}

const makers = {
  retry: () => model.retry({ attempts: 3, delay: 10, random: () => 0 }),
  fallback: ({ model: named }) => model.fallback({ models: [named('other')] }),
  /** It is half open again by the next call: a process that is new to a model has not seen it fail, and calls it. */
  breaker: () => model.breaker({ threshold: 2, halfOpenAfter: 1 }),
  cache: ({ world, plan }) => model.cache(plan.caches === 'own' ? {} : { store: world.values }),
  route: ({ did, model: named, plan }) =>
    model.route({
      rules: [
        {
          when: (ctx) => chance(plan, did, `route ${ctx.turnId} ${ctx.callIndex} ${ctx.attempt}`),
          model: named('routed'),
        },
      ],
    }),
  selectTools: ({ did, plan }) =>
    model.selectTools({
      tools: async (ctx) =>
        (await chance(plan, did, `tools ${ctx.turnId} ${ctx.callIndex} ${ctx.attempt}`))
          ? ['look', 'work', 'flaky', 'child']
          : ['look', 'work'],
    }),
  picks: ({ model: named }) => model.selectTools({ model: picker(named('picker')), as: 'picks' }),
  settings: () => model.settings({ defaults: { temperature: 0 } }),
  judge: ({ model: named }) =>
    guard.judge({
      model: judging(named('judge')),
      rubric: 'Is kind.',
      timeout: 1_000_000,
    }),
  judgesInput: ({ model: named }) =>
    guard.judge({
      model: judging(named('court')),
      rubric: 'Is kind.',
      apply: ['input'],
      timeout: 1_000_000,
      as: 'court',
    }),
  rateLimit: ({ did }) => guard.rateLimit({ limit: 50, window: 'day', store: counter(did) }),
  rateOfCalls: ({ did }) =>
    guard.rateLimit({ limit: 50, window: 'day', scope: 'model', as: 'calls', store: counter(did) }),
  budget: ({ world }) => guard.budget({ limit: 1e9, unit: 'tokens', window: 'day', ledger: world.ledger }),
  maxModelCalls: () => guard.maxModelCalls({ limit: 20 }),
  maxToolCalls: () => guard.maxToolCalls({ limit: 20 }),
  pii: () => guard.pii({ types: ['email'], apply: ['input', 'output'] }),
  piiHash: () => guard.pii({ types: ['email'], onFinding: 'hash', as: 'hash' }),
  piiMask: () => guard.pii({ types: ['email'], onFinding: 'mask', as: 'mask' }),
  content: () => guard.content({ keywords: ['says'], onFinding: 'redact', apply: ['input', 'output', 'toolResults'] }),
  flow: () => guard.flow(),
  injection: () => guard.injection(),
  output: () => guard.output({ check: async (text) => !text.includes('forbidden') }),
  input: () => guard.input({ check: async (text) => !text.includes('forbidden') }),
  timeout: () => guard.timeout({ model: 5_000, turn: 1_000_000 }),
  concurrency: () => guard.concurrency({ limit: 2, maxWait: 1_000_000 }),
  toolsCache: ({ world, plan }) =>
    tools.cache({ tools: ['look'], per: 'session', ...(plan.caches !== 'own' && { store: world.values }) }),
  toolsRetry: () => tools.retry({ tools: ['flaky'], delay: 10, random: () => 0 }),
  toolsTruncate: () => tools.truncate({ maxLength: 400 }),
  audit: ({ world: { audit } }) =>
    observe.audit({ sink: { append: (line, key) => audit.append(line, key), last: () => audit.lines.at(-1) } }),
  usage: () => observe.usage({ prices: () => 0 }),
  tools: () => observe.tools(),
  log: () => observe.log({ logger: { debug() {}, info() {}, warn() {}, error() {} } }),
  promptCache: () => model.promptCache(),
  compact: ({ model: named }) =>
    memory.compact({
      model: summing(named('summer')),
      strategy: 'summarise',
      trigger: { messages: 4 },
      keep: { messages: 2 },
      timeout: 1_000_000,
    }),
  truncate: () => memory.truncate({ maxMessages: 50 }),
  canary: ({ plan, world }) =>
    canary(marks('canary'), { percent: 50, per: async (ctx) => `${changing(plan, world, 'canary', ctx as Place)}` }),
  when: ({ plan, world }) => when(async (ctx) => changing(plan, world, 'when', ctx as Place), marks('when')),
} satisfies Record<string, (parts: Parts) => Usable>

export type LayerKind = keyof typeof makers
export const layerKinds = Object.keys(makers) as LayerKind[]

export function layersOf(kinds: readonly LayerKind[], parts: Parts): Usable[] {
  return kinds.map((kind) => makers[kind](parts))
}

/** Heads or tails, the same where it is asked again by who does not know that it was asked before; else another time it is the other. */
async function chance({ seed }: Plan, did: Parts['did'], key: string): Promise<boolean> {
  const nth = await did(`chance ${key}`)
  return heads(seed, key) === (nth === 0)
}

interface Place {
  turnId: string
  callIndex: number
  callId?: string
  attempt: number
}

/** The same for what is asked each time: another answer once the first is recorded, which stands. */
function changing(
  { seed }: Plan,
  { recorded }: World,
  by: string,
  { turnId, callIndex, callId, attempt }: Place,
): boolean {
  const place = `${turnId}:once:${callId === undefined ? `model:${callIndex}` : `tool:${callId}`}:`
  const known = recorded.some((id) => id.startsWith(place) && id.includes(`:${attempt}:`) && id.includes(`:${by}:`))
  return heads(seed, `${by} ${place} ${attempt}`) !== known
}

function heads(seed: number, key: string): boolean {
  return random(seed + [...key].reduce((sum, char) => sum * 31 + char.charCodeAt(0), 7))() < 0.5
}

/** Changes what is answered, and who sees it. */
function marks(name: string): Middleware {
  return {
    name: `marks-${name}`,
    async model(_, next) {
      const response = await next()
      return { ...response, text: `${response.text} ${name}` }
    },
    async tool(ctx, next) {
      const result = await next()
      return { ...result, content: `${String(result.content)} ${name} ${ctx.callId}` }
    },
  }
}

function judging(model: Model): Model {
  return answering(model, '{"score":0.9,"why":"kind"}')
}
function summing(model: Model): Model {
  return answering(model, 'Much was said.')
}
function picker(model: Model): Model {
  return answering(model, '{"tools":["look","work","flaky","child"]}')
}

/** A model that is called as another one is, and says the same always. */
function answering(model: Model, text: string): Model {
  return {
    id: model.id,
    async *stream(request) {
      for await (const chunk of model.stream(request)) if (chunk.type === 'text-delta') break
      yield { type: 'text-delta', delta: text }
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 3, outputTokens: 2 } }
    },
  }
}

/** Counts in the world, as Redis would. */
function counter(did: Parts['did']) {
  return ({ keyPrefix, points }: { keyPrefix: string; points: number }) => ({
    async consume(key: string) {
      const nth = await did(`rate ${keyPrefix} ${key}`)
      if (nth >= points) throw { msBeforeNext: 1000 }
      return nth
    },
    async reward() {},
  })
}
