import {
  Agent,
  delegate,
  type Middleware,
  type Model,
  type ModelChunk,
  type Settings,
  type ToolExecution,
} from '@allium/core'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import type { Attributes, Meter, Tracer } from '@opentelemetry/api'
import { compact } from '../../../memory/src/index.ts'
import { type ConventionNames, metrics, recordEvaluation, trace } from '../../src/otel.ts'
import { calling, type Layer, tool } from '../scene.ts'

/** An event as a logger of OpenTelemetry gets it. */
export interface EmittedEvent {
  readonly eventName: string
  readonly severityText?: string
  readonly attributes: Attributes
}

/** Runs agents with everything that is traced and measured: tools, sub-agents, caches, failures, an abort, compaction, a structured answer. */
export async function runEverything(names: ConventionNames, tracer: Tracer, meter: Meter): Promise<EmittedEvent[]> {
  const clock = manualClock()
  const events: EmittedEvent[] = []
  const emit = (event: EmittedEvent) => void events.push(event)
  const traced = () =>
    trace({
      tracer,
      names,
      content: true,
      toolDefinitions: true,
      identity: true,
      cost: { prices },
      eventLogger: { emit },
    })
  const watchers = () => [traced(), metrics({ meter, names })]
  const agentOf = (model: Model, layers: readonly Layer[], tools: ReturnType<typeof tool>[] = []) => {
    const options = { instructions: 'Be brief.', clock, tools, settings, orderCheck: 'off', logger: silent } as const
    const agent = new Agent({ name: 'desk', model, ...options })
    for (const layer of [...watchers(), ...layers]) agent.use(layer as Middleware)
    return agent.session({ principal: { tenantId: 'acme', userId: 'ada' } })
  }

  const helper = new Agent({ name: 'helper', model: scriptedModel(['Found.']), clock })
  for (const layer of watchers()) helper.use(layer as Middleware)
  const research = tool('research')
  research.execute = async (_: unknown, ctx: ToolExecution) => (await delegate(ctx, helper, 'Find it'))?.text
  const broken = tool('broken', () => Promise.reject(new TypeError('disk full')))
  const steps: ScriptedStep[] = [
    { ...(calling(['research'], ['broken'], ['made-up']) as object), reasoning: 'Hm.', usage: cached },
    new RangeError('503'),
    { text: 'Done.', finishReason: 'length' },
  ]
  const images = [{ type: 'image' as const, data: new Uint8Array(3), mediaType: 'image/png' }]
  await agentOf(scriptedModel(steps), [retrying], [research, broken]).run([{ role: 'user', content: images }])

  await agentOf(scriptedModel([new Error('down')]), [])
    .run('Fail')
    .settled()
  await agentOf(scriptedModel(['x']), [leaving])
    .run('Abort')
    .settled()
  await agentOf(answering, []).run('Where are you?')
  await agentOf(scriptedModel(['{"n":1}']), [asJson]).run('As JSON')

  const long = agentOf(
    scriptedModel(Array.from({ length: 8 }, () => 'Yes.')),
    compact(tooLong) as readonly Middleware[],
  )
  for (const input of ['one', 'two', 'three']) await long.run(input)

  const evaluation = { name: 'relevance', score: 0.9, label: 'pass', explanation: 'On topic', responseId: 'resp_1' }
  recordEvaluation({ emit }, { ...evaluation, error: new Error('no judge') }, { names })
  return events
}

const settings: Settings = {
  temperature: 0.5,
  topP: 0.9,
  maxOutputTokens: 99,
  seed: 1,
  stop: ['END'],
  reasoning: 'low',
}
const prices = { 'scripted/*': { input: 1, output: 2 }, 'acme/*': { input: 1, output: 2 } }
const tooLong = { trigger: { messages: 2 }, keep: { messages: 1 } }
const silent = { warn() {}, error() {} }
const cached = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, cacheWriteTokens: 10, reasoningTokens: 5 }
const retrying: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
const leaving: Middleware = { name: 'leaves', model: (ctx) => ctx.abort('left') }
const asJson: Middleware = {
  name: 'as-json',
  model(ctx, next) {
    ctx.responseFormat = { type: 'json' }
    return next()
  },
}

/** A model that tells its server and the id of its answer. */
const answering: Model = {
  id: 'acme/m1',
  server: { address: 'llm.example.com', port: 8443 },
  async *stream(): AsyncGenerator<ModelChunk> {
    yield { type: 'text-delta', delta: 'He' }
    yield { type: 'text-delta', delta: 're.' }
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 3, outputTokens: 2 }, responseId: 'resp_1' }
  },
}
