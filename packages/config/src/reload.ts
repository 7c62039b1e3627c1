import {
  type AgentOptions,
  defineMiddleware,
  type Logger,
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
export function createReload({
  file,
  files,
  liveConfig,
  first,
  given,
  read,
  onReload = () => {},
}: ReloadOptions): Reload {
  let now = first
  let knownFiles = files
  let lastReload: Promise<void> = Promise.resolve()

  async function reload(changed: string, watched: FileWatch, logger: Logger): Promise<void> {
    const changedOptions: string[] = []
    try {
      const { plan } = await read((hook) => changedOptions.push(hook))
      const fixed = needsRestart(first, plan)
      if (fixed.length > 0) logger.warn(`${file} has changed in ${fixed.join(', ')}. Create a new agent to apply that.`)
      now = plan
      liveConfig.hooks = plan.hooks
      knownFiles = changedOptions
      watched.watch([file, ...knownFiles])
      onReload({ file: changed })
    } catch (error) {
      // The error may be in a new file, so that is watched too.
      watched.watch([file, ...knownFiles, ...changedOptions])
      logger.error(`The config was not reloaded: ${messageOf(error)}`, { error })
      onReload({ file: changed, error })
    }
  }

  const layer = defineMiddleware({
    name: 'config:reload',
    async agent({ logger }, next) {
      const watched = new FileWatch((changed) => {
        lastReload = lastReload.then(() => reload(changed, watched, logger))
      })
      watched.watch([file, ...knownFiles])
      try {
        await next()
      } finally {
        watched.close()
      }
    },
    model(ctx, next) {
      const { model, thinking } = now.shape.agent
      const oldAgent = first.shape.agent
      // A model that the caller or a run chose stays.
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
      return next()
    },
  })

  function follow(options: AgentOptions): AgentOptions {
    if (given.instructions !== undefined) return options
    return {
      ...options,
      instructions(ctx) {
        const { instructions = '' } = now.shape.agent
        return typeof instructions === 'function' ? instructions(ctx) : instructions
      },
    }
  }

  return { layer, follow }
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
