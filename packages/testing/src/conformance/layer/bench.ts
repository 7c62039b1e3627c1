import { Agent, type AgentOptions, type AnyMiddleware, type AnyTool, type Middleware, type Session } from '@allium/core'
import { type ManualClock, manualClock } from '../../manual-clock.ts'
import { type ScriptedModel, scriptedModel } from '../../scripted-model.ts'
import type { ScriptedStep } from '../../step.ts'
import { type HookCall, watchLayer } from './hook-calls.ts'
import { type LayerUnderTest, makeLayer } from './layer-under-test.ts'

/** One agent with the layer under test between layers of the suite. */
export interface Bench {
  agent: Agent
  model: ScriptedModel
  clock: ManualClock
  layer: AnyMiddleware
  /** Each call of the layer's hooks. */
  calls: HookCall[]
  /** The arguments of each call of the tool "work". */
  executed: Record<string, unknown>[]
  /** The end events of each run that has emitted its begin event. */
  runEnds: Map<string, string[]>
  session(more?: { tenant?: string; id?: string }): Session
}

export interface Scene {
  steps?: readonly ScriptedStep[]
  /** Layers of the suite around the layer under test. */
  outside?: readonly Middleware[]
  inside?: readonly Middleware[]
  /** The implementation of "work". @default returns 'worked' */
  work?(args: Record<string, unknown>, ctx: Parameters<NonNullable<AnyTool['execute']>>[1]): unknown
  agent?: Partial<AgentOptions>
  /** The layer, if two agents share it. */
  layer?: AnyMiddleware
}

export const callWork: ScriptedStep = { text: 'Let me look.', toolCalls: [{ name: 'work', args: { n: 1 } }] }
/** A step with a tool call, and an answer. */
export const defaultSteps: readonly ScriptedStep[] = [callWork, 'All is well today.']

export function makeBench(options: LayerUnderTest, scene: Scene = {}): Bench {
  const { outside = [], inside = [], work = () => 'worked', layer = makeLayer(options) } = scene
  const model = scriptedModel(scene.steps ?? options.steps ?? defaultSteps)
  const clock = manualClock()
  const calls: HookCall[] = []
  const executed: Record<string, unknown>[] = []
  const runEnds: Bench['runEnds'] = new Map()
  const tool: AnyTool = {
    name: 'work',
    description: 'Works',
    jsonSchema: { type: 'object' },
    flow: {},
    execute(args: Record<string, unknown>, ctx) {
      executed.push(args)
      return work(args, ctx)
    },
  }
  let ids = 0
  const agent = new Agent({
    model,
    ids: () => `id-${++ids}`,
    clock,
    logger: { warn() {}, error() {} },
    orderCheck: 'off',
    toolTimeout: 1e12,
    ...options.agentOptions,
    ...scene.agent,
    tools: [tool, ...(options.tools ?? []), ...(options.agentOptions?.tools ?? [])],
  })
  agent.use([watchLayer(layer, calls), ...outside])
  agent.use(layer as Middleware, options.config)
  agent.use(inside)
  agent.on('turn:start', ({ turnId }) => runEnds.set(turnId, []))
  agent.on('turn:end', ({ turnId, status }) => runEnds.set(turnId, [...(runEnds.get(turnId) ?? []), status]))
  const session: Bench['session'] = ({ tenant = 'acme', id = 'chat' } = {}) =>
    agent.session({
      id,
      principal: { userId: 'ada', ...options.principal, tenantId: tenant, tenant },
      context: options.context,
    })
  return { agent, model, clock, layer, calls, executed, runEnds, session }
}
