import { Agent, type AnyTool, type Usable, type Usage } from '@allium/core'
import { type Ledger, memoryLedger } from '@allium/store'
import { memoryJournal } from '@allium/store/journal'
import type { Counter, Histogram, Meter } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { CaseClock } from '../../../core/test/explore/clock.ts'
import * as guard from '../../src/guard.ts'
import * as observe from '../../src/observe.ts'
import { metrics, trace } from '../../src/otel.ts'
import * as tools from '../../src/tools.ts'
import { Books } from './books.ts'
import { layersOf } from './layers.ts'
import type { Plan } from './plan.ts'

/** Plays a run in virtual time. */
export async function play(plan: Plan): Promise<{ told: object; expected: object }> {
  const clock = new CaseClock()
  const books = new Books(plan, clock)
  const ledger = memoryLedger()
  const seen = { input: 0, output: 0 }
  const exporter = new InMemorySpanExporter()
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer('test')
  const meters: Usable[] = [
    observe.usage({ prices: () => 0 }),
    guard.budget({ limit: 1e9, unit: 'tokens', ledger: plan.slowLedger ? slow(ledger, clock) : ledger }),
    guard.budget({ limit: 1e9, per: 'turn', unit: 'tokens', as: 'turn' }),
    trace({ tracer }),
    metrics({ meter: counting(seen) }),
  ]
  const child = new Agent({ name: 'child', model: books.model('child'), clock, logger: silent, orderCheck: 'off' })
  child.use(layersOf(plan.inner, clock, books.model('m1')))
  const agent = new Agent({
    model: books.model('m0'),
    tools: [work(clock)],
    clock,
    logger: silent,
    orderCheck: 'off',
    maxSteps: 5,
    ...(plan.journal && { journal: memoryJournal() }),
  })
  agent.use([...layersOf(plan.layers, clock, books.model('m1')), ...meters])
  agent.use(tools.agent({ agent: child, description: 'Asks the child', timeout: 150 }))
  let ended: Usage | undefined
  agent.on('turn:end', ({ usage }) => void (ended = usage))

  const session = agent.session({ id: 's' })
  const run = session.run('Go on, and tell me all.')
  clock.after(plan.abortAt, () => run.abort())
  const usage = await clock.until(run.then(({ usage }) => usage, usageIn))
  const state = session.state as Record<string, unknown>
  const spans = exporter.getFinishedSpans()
  const chats = spans.filter(({ attributes }) => attributes['gen_ai.operation.name'] === 'chat')
  const sum = (name: string) => chats.reduce((total, { attributes }) => total + Number(attributes[name] ?? 0), 0)
  const all = books.usage()
  const tokens = all.inputTokens + all.outputTokens
  return {
    told: {
      run: usage,
      ended,
      state: state['observe:usage:tokens'],
      models: withoutCost(state['observe:usage:models'] as object),
      budget: state['guard:budget:spent'],
      turn: state['turn:spent'],
      ledger: await ledger.balance('["guard:budget","","","s"]'),
      trace: [sum(names.input), sum(names.output)],
      metrics: [seen.input, seen.output],
    },
    expected: {
      run: all,
      ended: all,
      state: all,
      models: Object.fromEntries(books.models.map((name) => [name, books.usage(name)])),
      budget: tokens,
      turn: tokens,
      ledger: { spent: tokens, reserved: 0 },
      trace: [all.inputTokens, all.outputTokens],
      metrics: [all.inputTokens, all.outputTokens],
    },
  }
}

const names = { input: 'gen_ai.usage.input_tokens', output: 'gen_ai.usage.output_tokens' }
const silent = { warn() {}, error() {} }

/** A run that was aborted or failed has its usage on its error. */
function usageIn(error: { partial?: { usage: Usage } }): Usage | undefined {
  return error.partial?.usage
}

function withoutCost(models: object): object {
  return Object.fromEntries(Object.entries(models).map(([name, { cost: _, ...usage }]) => [name, usage]))
}

function work(clock: CaseClock): AnyTool {
  const execute = (_: unknown, { signal }: { signal: AbortSignal }) => clock.wait(15, signal).then(() => 'worked')
  return { name: 'work', description: 'Works', jsonSchema: {}, execute }
}

/** A ledger behind a wire. */
function slow(ledger: Ledger, clock: CaseClock): Ledger {
  return {
    ...ledger,
    reserve: (request) => clock.wait(3).then(() => ledger.reserve(request)),
    settle: (reservation, amount) => clock.wait(3).then(() => ledger.settle(reservation, amount)),
  }
}

/** A meter that adds up tokens. */
function counting(seen: { input: number; output: number }): Meter {
  const counter = (name: string): Pick<Counter, 'add'> => ({
    add(value) {
      if (name === 'gen_ai.client.inference.usage.input_tokens') seen.input += value
      if (name === 'gen_ai.client.inference.usage.output_tokens') seen.output += value
    },
  })
  const histogram: Pick<Histogram, 'record'> = { record() {} }
  return { createCounter: counter, createHistogram: () => histogram } as Partial<Meter> as Meter
}
