import { AlliumError, type Clock, defineMiddleware, type NextOptions, type TypedMiddleware } from '@allium/core'

export interface TimeoutOptions {
  /** Milliseconds for a whole turn. */
  turn?: number
  /** Milliseconds for a model call, with the attempts of the layers inside this one. */
  model?: number
  /** Milliseconds for a tool call, with what the layers inside this one wait for. `execute` alone has the agent's `toolTimeout`. */
  tool?: number
  /** The layer's name. @default 'guard:timeout' */
  as?: string
}

/**
 * Gives turns, model calls and tool calls a time, and cancels what takes longer: the provider's connection is closed,
 * the tool's signal aborts. A turn or a model call that is late fails with `turn.timeout` or `model.timeout`, which a layer
 * outside may catch (a fallback goes on to the next model); a tool call that is late is an error result for the model.
 *
 * Outside of a retry it bounds all attempts together, inside of it each one.
 *
 * @throws AlliumError `layer.config` where no time is given, or one is not above 0
 * @example
 * agent.use(guard.timeout({ turn: 60_000, model: 20_000 }))
 */
export function timeout({ turn, model, tool, as = 'guard:timeout' }: TimeoutOptions): TypedMiddleware<{}> {
  const times = Object.entries({ turn, model, tool }).filter(([, ms]) => ms !== undefined)
  if (times.length === 0 || times.some(([, ms]) => !(Number(ms) > 0)))
    throw new AlliumError('layer.config', `"${as}" needs milliseconds above 0 for turn, model or tool.`)

  return defineMiddleware({
    name: as,
    order: { is: ['timeouts'] },
    ...(turn !== undefined && { turn: (ctx, next) => within(turn, 'turn', ctx.clock, next) }),
    ...(model !== undefined && { model: (ctx, next) => within(model, 'model', ctx.clock, next) }),
    ...(tool !== undefined && {
      async tool(ctx, next) {
        try {
          return await within(tool, 'tool', ctx.clock, next)
        } catch (error) {
          if (!(error instanceof AlliumError) || error.details.layer !== as) throw error
          return { content: `The tool "${ctx.tool.name}" took longer than ${tool} ms.`, isError: true, error }
        }
      },
    }),
  })

  async function within<R>(
    ms: number,
    scope: 'turn' | 'model' | 'tool',
    clock: Clock,
    next: (options: NextOptions) => Promise<R>,
  ): Promise<R> {
    const late = new AbortController()
    const what = scope === 'turn' ? 'turn' : `${scope} call`
    const message = `The ${what} took longer than ${ms} ms ("${as}").`
    const stop = clock.after(ms, () =>
      late.abort(new AlliumError(`${scope}.timeout`, message, { details: { layer: as, ms } })),
    )
    try {
      return await next({ signal: late.signal })
    } finally {
      stop()
    }
  }
}
