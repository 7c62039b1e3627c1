import {
  type AgentOptions,
  defineMiddleware,
  type Logger,
  type ModelRef,
  messageOf,
  type TypedMiddleware,
} from '@allium/core'
import type { Live } from './adapter/hooks.ts'
import type { Plan } from './compile.ts'
import { FileWatch } from './watch-files.ts'

/** A config that is read again when its files change, under an agent that goes on. */
export interface Reload {
  readonly layer: TypedMiddleware<{}>
  /** The agent's options, with those that a reload may change read when they are needed. */
  follow(options: AgentOptions, given: Partial<AgentOptions>): AgentOptions
}

/**
 * Replaces hooks, model, instructions and thinking while the agent lives, so that its sessions go on; a running turn ends
 * with the hooks that it began with. What else has changed is warned of. A config with a mistake changes nothing.
 */
export function createReload(
  file: string,
  live: Live,
  first: Plan,
  read: () => Promise<{ plan: Plan }>,
  onReload: (outcome: { file: string; error?: unknown }) => void = () => {},
): Reload {
  let now = first
  let last: Promise<void> = Promise.resolve()

  async function reload(changed: string, watched: FileWatch, logger: Logger): Promise<void> {
    try {
      const { plan } = await read()
      if (fixedPart(plan) !== fixedPart(first))
        logger.warn(
          `${file} has changed in name, maxIterations, tools, mcp or use, which take effect with a new agent.`,
        )
      now = plan
      live.hooks = plan.hooks
      watched.watch([file, ...plan.files])
      onReload({ file: changed })
    } catch (error) {
      logger.error(`The config was not reloaded: ${messageOf(error)}`, { error })
      onReload({ file: changed, error })
    }
  }

  const layer = defineMiddleware({
    name: 'config:reload',
    async agent({ logger }, next) {
      const watched = new FileWatch((changed) => {
        last = last.then(() => reload(changed, watched, logger))
      })
      watched.watch([file, ...now.files])
      try {
        await next()
      } finally {
        watched.close()
      }
    },
    model(ctx, next) {
      const { model, thinking } = now.shape.agent
      const before = first.shape.agent
      // What a run chose for itself stays.
      if (
        model !== undefined &&
        before.model !== undefined &&
        ctx.model === idOf(before.model) &&
        model !== before.model
      )
        ctx.setModel(model)
      if (thinking !== before.thinking && ctx.request.settings.reasoning === before.thinking) {
        const { reasoning: _, ...settings } = ctx.settings
        ctx.settings = thinking === undefined ? settings : { ...settings, reasoning: thinking }
      }
      return next()
    },
  })

  function follow(options: AgentOptions, given: Partial<AgentOptions>): AgentOptions {
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

/** What an agent has from its beginning to its end. */
function fixedPart({ shape: { agent } }: Plan): string {
  const { name, maxIterations, tools, mcp, use } = agent
  return JSON.stringify([name, maxIterations, tools, mcp, use])
}

function idOf(model: ModelRef): string {
  return typeof model === 'string' ? model : model.id
}
