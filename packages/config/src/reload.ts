import {
  type AgentOptions,
  defineMiddleware,
  type Logger,
  type ModelContext,
  type ModelRef,
  messageOf,
  type TypedMiddleware,
} from '@allium/core'
import type { LiveConfig } from './adapter/hooks.ts'
import type { Plan } from './compile.ts'
import { FileWatch } from './watch-files.ts'

/** Reloads a config when its files change, while its agent continues. */
export interface Reload {
  readonly layer: TypedMiddleware<{}>
  /** Returns the agent's options; those that a reload may change are read when needed. */
  follow(options: AgentOptions): AgentOptions
}

export interface ReloadOptions {
  readonly file: string
  /** The files of its hooks. */
  readonly files: readonly string[]
  readonly liveConfig: LiveConfig
  readonly first: Plan
  /** The caller's options, which override the file. */
  readonly given: Partial<AgentOptions>
  read(onFile: (file: string) => void): Promise<{ plan: Plan }>
  readonly onReload: ((outcome: { file: string; error?: unknown }) => void) | undefined
}

/**
 * Replaces hooks, model, instructions and thinking while the agent lives, so that its sessions continue. A running turn ends with the
 * hooks that it began with. Other changes are logged as warnings. An invalid config changes nothing.
 */
export function createReload(options: ReloadOptions): Reload {
  const config = new ReloadedConfig(options)
  const layer = defineMiddleware({
    name: 'config:reload',
    async agent({ logger }, next) {
      const stop = config.watch(logger)
      try {
        await next()
      } finally {
        stop()
      }
    },
    model(ctx, next) {
      config.applyTo(ctx)
      return next()
    },
  })
  return { layer, follow: (agentOptions) => config.follow(agentOptions) }
}

/** The config as the last reload read it. */
class ReloadedConfig {
  readonly #options: ReloadOptions
  #now: Plan
  /** The files of the hooks. */
  #files: readonly string[]
  #lastReload: Promise<void> = Promise.resolve()

  constructor(options: ReloadOptions) {
    this.#options = options
    this.#now = options.first
    this.#files = options.files
  }

  /** Reloads when a file changes. Returns a function that stops it. */
  watch(logger: Logger): () => void {
    const watched = new FileWatch((changed) => {
      this.#lastReload = this.#lastReload.then(() => this.#reload(changed, watched, logger))
    })
    watched.watch([this.#options.file, ...this.#files])
    return () => watched.close()
  }

  /** Sets the model and the thinking of a call. Those that the caller or a run chose stay. */
  applyTo(ctx: ModelContext): void {
    const { given, first } = this.#options
    const { model, thinking } = this.#now.shape.agent
    const oldAgent = first.shape.agent
    if (
      given.model === undefined &&
      model !== undefined &&
      oldAgent.model !== undefined &&
      ctx.model === idOf(oldAgent.model) &&
      model !== oldAgent.model
    )
      ctx.setModel(model)
    const allowsReasoning = given.settings?.reasoning === undefined
    if (allowsReasoning && thinking !== oldAgent.thinking && ctx.request.settings.reasoning === oldAgent.thinking) {
      const { reasoning: _, ...settings } = ctx.settings
      ctx.settings = thinking === undefined ? settings : { ...settings, reasoning: thinking }
    }
  }

  follow(options: AgentOptions): AgentOptions {
    if (this.#options.given.instructions !== undefined) return options
    return {
      ...options,
      instructions: (ctx) => {
        const { instructions = '' } = this.#now.shape.agent
        return typeof instructions === 'function' ? instructions(ctx) : instructions
      },
    }
  }

  async #reload(changed: string, watched: FileWatch, logger: Logger): Promise<void> {
    const { file, liveConfig, first, read, onReload = () => {} } = this.#options
    const hookFiles: string[] = []
    try {
      const { plan } = await read((hook) => hookFiles.push(hook))
      const fixed = needsRestart(first, plan)
      if (fixed.length > 0) logger.warn(`${file} has changed in ${fixed.join(', ')}. Create a new agent to apply that.`)
      this.#now = plan
      liveConfig.hooks = plan.hooks
      this.#files = hookFiles
      watched.watch([file, ...this.#files])
      onReload({ file: changed })
    } catch (error) {
      // The error may be in a new file, so that is watched too.
      watched.watch([file, ...this.#files, ...hookFiles])
      logger.error(`The config was not reloaded: ${messageOf(error)}`, { error })
      onReload({ file: changed, error })
    }
  }
}

/** Returns the changed settings that an agent keeps for its lifetime. For hooks, `toolTimeout` applies immediately. */
function needsRestart(first: Plan, now: Plan): string[] {
  const keys = ['name', 'maxIterations', 'tools', 'mcp', 'use'] as const
  const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b)
  const changed: string[] = keys.filter((key) => differs(first.shape.agent[key], now.shape.agent[key]))
  return first.shape.toolTimeout === now.shape.toolTimeout ? changed : [...changed, 'toolTimeout (of tools)']
}

function idOf(model: ModelRef): string {
  if (typeof model === 'string') return model
  return 'id' in model ? model.id : `${model.provider.split('.', 1)[0]}/${model.modelId}`
}
