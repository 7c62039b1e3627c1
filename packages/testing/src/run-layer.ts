import {
  Agent,
  type AgentOptions,
  type AnyMiddleware,
  type Capability,
  type Message,
  type ModelResponse,
  type Session,
  type ToolResult,
} from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { isolate, probe } from './isolate.ts'
import type { LayerRun } from './layer-run.ts'
import { scriptedModel } from './scripted-model.ts'
import { type Stubs, stepsOf, toolsOf } from './stubs.ts'

export interface RunLayerOptions extends Stubs {
  /** The config for `.use(layer, config)`. */
  config?: unknown | undefined
  /** The turn's input. @default 'hello' */
  input?: string | Message[] | undefined
  /** Agent and session scope: called while the hook's next() is running. */
  inside?(session: Session): unknown
  /** The initial history of the session. The initial state bypasses the reducers. */
  history?: Message[] | undefined
  state?: Record<string, unknown> | undefined
  principal?: unknown | undefined
  context?: unknown | undefined
  /** The capabilities for `ctx.find()` and `inject()`. */
  provide?: readonly (readonly [Capability<unknown>, unknown])[] | undefined
  /** Additional options of the agent, such as its clock. */
  agentOptions?: Partial<AgentOptions> | undefined
}

const optionKeys: KeysOf<RunLayerOptions> = {
  scope: true,
  steps: true,
  args: true,
  execute: true,
  tool: true,
  config: true,
  input: true,
  inside: true,
  history: true,
  state: true,
  principal: true,
  context: true,
  provide: true,
  agentOptions: true,
}

/**
 * Runs one hook of one layer in isolation, in a real agent with a scripted model and a tool inside.
 * Errors of the hook or the turn are in `error`; a layer that `.use()` rejects rejects the promise.
 *
 * @example
 * const { response, requests } = await runLayer(brief(), { scope: 'model', steps: 'ok' })
 * expect(requests[0].messages[0].content).toBe('Be brief.')
 */
export async function runLayer(layer: AnyMiddleware, options: RunLayerOptions): Promise<LayerRun> {
  checkOptions(options ?? null, optionKeys, 'runLayer()', 'options.invalid')
  const { scope, config, agentOptions, principal, context, provide = [], history = [], state = {} } = options
  const model = scriptedModel(stepsOf(options))
  const executed: Record<string, unknown>[] = []
  const replacement: { response?: ModelResponse; toolResult?: ToolResult } = {}
  const agent = new Agent({
    model,
    logger: silent,
    orderCheck: 'off',
    ...agentOptions,
    tools: [...(agentOptions?.tools ?? []), ...toolsOf(options, executed)],
  })
    .use(probe(replacement, provide))
    .use(isolate(layer, scope), config)
  const session = agent.session({ principal, context })
  const run = await collect(session, () => session.restore({ history, state }), options)
  await agent.dispose().catch((error) => (run.error ??= error))
  return {
    response: replacement.response,
    toolResult: replacement.toolResult,
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

const silent = { warn() {}, error() {} }
