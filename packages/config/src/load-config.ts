import { Agent, type AgentOptions } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { modelLayer, toolLayer } from './adapter/call-layer.ts'
import type { LiveConfig } from './adapter/hooks.ts'
import { Loops } from './adapter/loop.ts'
import { loopLayer } from './adapter/loop-layer.ts'
import { compileConfig, defaultTimeout, type Plan } from './compile.ts'
import type { AlliumConfig } from './define-config.ts'
import { createCode } from './entries/code.ts'
import { atSource, type Packs } from './packs.ts'
import { createReload } from './reload.ts'
import type { Env } from './shell/environment.ts'
import { readSource } from './source/read-source.ts'
import { mistake, type Source } from './source/source.ts'

/** Options in addition to those of an agent, which override the file; tools are combined. */
export interface LoadOptions extends Partial<AgentOptions> {
  /** Whether the config may contain code. @default true for a path, false for an object */
  trusted?: boolean | undefined
  /** Whether hooks and tools may be files outside of the config's folder. @default false */
  allowOutside?: boolean | undefined
  /** The source of `${NAME}`, and of variables for shell hooks. @default process.env */
  env?: Env | undefined
  /** Reloads hooks, model, instructions and thinking when a file changes; sessions continue. @default false */
  watch?: boolean | undefined
  /** Called after each reload; with an error if the last good config stays. */
  onReload?(outcome: { file: string; error?: unknown }): void
}

export interface LoaderOptions {
  /** The packs that a config may name under `agent.use`. @default none */
  packs?: Packs | undefined
  /** @default the agent of `@allium/core` */
  createAgent?(options: AgentOptions): Agent
  /** Modules that the project's files import by these names, to share one copy. */
  modules?: Readonly<Record<string, unknown>> | undefined
}

const optionKeys: KeysOf<LoaderOptions> = { packs: true, createAgent: true, modules: true }

/** Reads a config and returns its agent, which has not begun, so `.use()` still works. */
export type LoadConfig = (config: string | URL | AlliumConfig, options?: LoadOptions) => Promise<Agent>

/** Creates a `loadConfig` with packs. */
export function createLoader(loader: LoaderOptions = {}): LoadConfig {
  checkOptions(loader, optionKeys, 'createLoader()', 'options.invalid')
  const { packs = {}, createAgent = (options) => new Agent(options), modules = {} } = loader
  const code = createCode(modules)
  return async (config, given = {}) => {
    const { trusted, allowOutside = false, env = process.env, watch = false, onReload, ...options } = given
    const read = async (onFile: (file: string) => void) => {
      code.forget()
      const source = await readSource(config, { env, trusted, code })
      const { toolTimeout: timeout } = options
      const plan = await compileConfig(source, { code, env, allowOutside, packs, timeout, onFile })
      return { source, plan }
    }
    const files: string[] = []
    const { source, plan } = await read((file) => files.push(file))
    const liveConfig: LiveConfig = {
      hooks: plan.hooks,
      maxIterations: options.maxSteps ?? plan.shape.agent.maxIterations ?? 25,
    }
    const agentOptions = toAgentOptions(source, plan, options)
    const reload =
      watch && source.file !== undefined
        ? createReload({ file: source.file, files, liveConfig, first: plan, given: options, read, onReload })
        : undefined
    const agent = createAgent(reload === undefined ? agentOptions : reload.follow(agentOptions))
    const loops = new Loops(liveConfig)
    // A watched config may get its first hook later.
    const hasHooks = reload !== undefined || Object.keys(plan.hooks).length > 0
    if (reload !== undefined) agent.use(reload.layer)
    if (hasHooks) agent.use(loopLayer(loops))
    for (const { layer, path } of plan.layers)
      try {
        agent.use([layer])
      } catch (error) {
        throw atSource(source, path, error)
      }
    if (hasHooks) agent.use(modelLayer(loops)).use(toolLayer(loops, plan.hooks.beforeToolExecution !== undefined))
    return agent
  }
}

function toAgentOptions(source: Source, { shape, tools }: Plan, options: Partial<AgentOptions>): AgentOptions {
  const { name, model, instructions, thinking, maxIterations } = shape.agent
  const chosen = options.model ?? model
  if (chosen === undefined)
    throw mistake(
      source,
      'config.invalid',
      ['agent'],
      'names no model. Expected agent.model, such as "anthropic/claude-sonnet-4-6", or the option model.',
    )
  return {
    ...(name !== undefined && { name }),
    ...(instructions !== undefined && { instructions }),
    ...(maxIterations !== undefined && { maxSteps: maxIterations }),
    toolTimeout: shape.toolTimeout ?? defaultTimeout,
    ...options,
    model: chosen,
    settings: { ...(thinking !== undefined && { reasoning: thinking }), ...options.settings },
    tools: [...tools, ...(options.tools ?? [])],
  }
}
