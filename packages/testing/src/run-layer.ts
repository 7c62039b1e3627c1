import {
  Agent,
  type AgentOptions,
  type AnyMiddleware,
  type AnyTool,
  type Capability,
  type CustomEvent,
  type Message,
  type ModelResponse,
  type RunResult,
  type ScopeName,
  type Session,
  type StreamEvent,
  type ToolResult,
} from '@allium/core'
import { isolate, probe } from './isolate.ts'
import { type RecordedRequest, scriptedModel } from './scripted-model.ts'
import type { ScriptedStep } from './step.ts'

interface Inside {
  /** Turn and model scope: what the model does, one step for each call. @default always 'ok' */
  steps?: ScriptedStep | readonly ScriptedStep[]
  /** Tool scope: what the tool does. @default gives 'ok' */
  execute?(args: Record<string, unknown>): unknown
  /** Agent and session scope: what happens while the hook's next() is open. */
  inside?(session: Session): unknown
}

export interface RunLayerOptions extends Inside {
  /** The one hook that runs; the layer's other hooks stay out. */
  scope: ScopeName
  /** As `.use(layer, config)` takes it. */
  config?: unknown
  /** The turn's input. @default 'hello' */
  input?: string | Message[]
  /** Tool scope: the arguments as the model sends them; a text is sent as it is. @default {} */
  args?: Record<string, unknown> | string
  /** Tool scope: fields of the tool, such as its name or `requireApproval`. @default a tool "work" that takes anything */
  tool?: Partial<AnyTool>
  /** What the session begins with; state is set past the reducers. */
  history?: Message[]
  state?: Record<string, unknown>
  principal?: unknown
  context?: unknown
  /** What `ctx.inject()` finds. */
  provide?: readonly (readonly [Capability<unknown>, unknown])[]
  /** Further options of the agent, such as its clock. */
  agent?: Partial<AgentOptions>
}

/** What one hook did. */
export interface LayerRun {
  /** Model scope: what left the hook at its last call. */
  response: ModelResponse | undefined
  /** Tool scope: what left the hook. */
  toolResult: ToolResult | undefined
  /** The turn around it, unless it rejected. */
  result: RunResult | undefined
  /** What the hook, or the turn around it, threw. */
  error: unknown
  /** The stream of the turn, as a reader saw it. */
  events: (StreamEvent | CustomEvent)[]
  /** What reached the model. */
  requests: readonly RecordedRequest[]
  /** What reached the tool, one entry for each time it ran. */
  executed: Record<string, unknown>[]
  /** The session's state and history afterwards. */
  state: Record<string, unknown>
  history: readonly Message[]
}

/**
 * Runs one hook of one layer, alone, in a real agent: a scripted model and a tool stand for what is inside.
 * It never rejects: what was thrown is in `error`.
 *
 * @example
 * const { response, requests } = await runLayer(brief(), { scope: 'model', steps: 'ok' })
 * expect(requests[0].messages[0].content).toBe('Be brief.')
 */
export async function runLayer(layer: AnyMiddleware, options: RunLayerOptions): Promise<LayerRun> {
  const { scope, config, agent: agentOptions, principal, context, provide = [], history = [], state = {} } = options
  const model = scriptedModel(stepsOf(options))
  const executed: Record<string, unknown>[] = []
  const left: { response?: ModelResponse; toolResult?: ToolResult } = {}
  const agent = new Agent({
    model,
    logger: silent,
    orderCheck: 'off',
    ...agentOptions,
    tools: toolsOf(options, executed),
  })
    .use(probe(left, provide))
    .use(isolate(layer, scope), config)
  const session = agent.session({ principal, context })
  const run = await collect(session, () => session.restore({ history, state }), options)
  await agent.dispose().catch((error) => (run.error ??= error))
  return {
    response: left.response,
    toolResult: left.toolResult,
    ...run,
    requests: model.requests,
    executed,
    state: { ...session.state },
    history: [...session.history],
  }
}

async function collect(session: Session, prepare: () => void, { scope, input = 'hello', inside }: RunLayerOptions) {
  const events: LayerRun['events'] = []
  const out: Pick<LayerRun, 'events' | 'result' | 'error'> = { events, result: undefined, error: undefined }
  try {
    prepare()
    await session.open()
    if (scope === 'agent' || scope === 'session') await inside?.(session)
    else {
      const run = session.run(input)
      for await (const event of run) events.push(event)
      out.result = await run
    }
    await session.close()
  } catch (error) {
    out.error = error
  }
  return out
}

function stepsOf({ scope, steps, tool, args }: RunLayerOptions): readonly ScriptedStep[] {
  if (scope === 'tool') return [{ toolCalls: [{ name: tool?.name ?? 'work', args }] }, 'ok']
  if (steps === undefined) return Array.from({ length: 100 }, () => 'ok')
  return Array.isArray(steps) ? steps : [steps as ScriptedStep]
}

function toolsOf({ scope, tool, execute = () => 'ok', agent }: RunLayerOptions, executed: object[]): AnyTool[] {
  const given = [...(agent?.tools ?? [])]
  if (scope !== 'tool') return given
  const run = (args: Record<string, unknown>) => {
    executed.push(args)
    return execute(args)
  }
  return [
    ...given,
    {
      name: 'work',
      description: 'The tool under test',
      jsonSchema: { type: 'object' },
      execute: run,
      ...tool,
    } as AnyTool,
  ]
}

const silent = { warn() {}, error() {} }
