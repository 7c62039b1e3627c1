import {
  AlliumError,
  type Clock,
  defineMiddleware,
  layerOptions,
  type ModelContext,
  misconfigured,
  type NextOptions,
  option,
  type TypedMiddleware,
} from '@allium/core'

export interface TimeoutOptions {
  /** Milliseconds for a whole turn. */
  turn?: number | undefined
  /** Milliseconds for a model call, with the attempts of the layers inside this one. */
  model?: number | undefined
  /** Milliseconds that a model may be silent between two chunks. The time that a slow reader takes does not count. */
  chunk?: number | undefined
  /** The same before the first one, while it reads and thinks. @default `chunk` */
  firstChunk?: number | undefined
  /** Milliseconds for a tool call, with what the layers inside this one wait for. `execute` alone has the agent's `toolTimeout`. */
  tool?: number | undefined
  /** The layer's name. @default 'guard:timeout' */
  as?: string | undefined
}

type Scope = 'turn' | 'model' | 'tool'

/** What waits between calls, or keeps an answer back to its end: from outside, it is silent. */
const silentLayers = ['retries', 'repairs', 'guard:output', 'guard:judge']

const ms = option.number({ above: 0 })
const readOptions = layerOptions<TimeoutOptions>('guard:timeout', {
  turn: ms,
  model: ms,
  chunk: ms,
  firstChunk: ms,
  tool: ms,
})

/**
 * Gives turns, model calls and tool calls a time, and cancels what takes longer: the provider's connection is closed,
 * the tool's signal aborts. A turn or a model call that is late fails with `turn.timeout` or `model.timeout`, which a layer
 * outside may catch (a fallback goes on to the next model); a tool call that is late is an error result for the model.
 *
 * Outside of a retry it bounds all attempts together, inside of it each one. `chunk` belongs inside, and inside of what
 * keeps answers back (`guard.output`): to it, such waits are silence. Calls of sub-agents have the times of `model` and `tool`
 * too, each with its retries.
 *
 * @throws AlliumError `layer.config` where no time is given, or one is not above 0
 * @example
 * agent.use(guard.timeout({ turn: 300_000, chunk: 30_000 }))
 */
export function timeout(options: TimeoutOptions): TypedMiddleware<{}> {
  const { turn, model, chunk, firstChunk = chunk, tool, as = 'guard:timeout' } = readOptions(options)
  if ([turn, model, firstChunk, tool].every((time) => time === undefined))
    throw misconfigured(as, 'needs milliseconds above 0 for turn, model, chunk, firstChunk or tool.')

  return defineMiddleware({
    name: as,
    inherit: true,
    order: { is: ['timeouts'], ...(firstChunk !== undefined && { inside: silentLayers }) },
    ...(turn !== undefined && { turn: (ctx, next) => withTimeout(turn, 'turn', ctx.clock, next) }),
    ...((model !== undefined || firstChunk !== undefined) && {
      model(ctx, next) {
        const controller = new AbortController()
        // Around a sub-agent's retries, and around what keeps its answers back, waits are silence.
        if (firstChunk !== undefined && !ctx.inherited) watchChunks(ctx, controller)
        return withTimeout(model, 'model', ctx.clock, next, controller)
      },
    }),
    ...(tool !== undefined && {
      async tool(ctx, next) {
        try {
          return await withTimeout(tool, 'tool', ctx.clock, next)
        } catch (error) {
          if (!(error instanceof AlliumError) || error.details.layer !== as) throw error
          return { content: `The tool "${ctx.tool.name}" took longer than ${tool} ms.`, isError: true, error }
        }
      },
    }),
  })

  async function withTimeout<R>(
    ms: number | undefined,
    scope: Scope,
    clock: Clock,
    next: (options: NextOptions) => Promise<R>,
    controller = new AbortController(),
  ): Promise<R> {
    const what = scope === 'turn' ? 'turn' : `${scope} call`
    const stopTimer = startTimer(ms, scope, `The ${what} took longer than`, clock, controller)
    try {
      return await next({ signal: controller.signal })
    } finally {
      stopTimer()
    }
  }

  /** Lets no silence last. A pipe is resumed once what it gave was taken, so its reader's time is not the model's. */
  function watchChunks(ctx: Pick<ModelContext, 'clock' | 'pipe'>, controller: AbortController): void {
    const startChunkTimer = (ms: number | undefined) =>
      startTimer(ms, 'model', 'The model sent nothing for', ctx.clock, controller)
    ctx.pipe(async function* (chunks) {
      let stopTimer = startChunkTimer(firstChunk)
      try {
        for await (const current of chunks) {
          stopTimer()
          yield current
          stopTimer = startChunkTimer(chunk)
        }
      } finally {
        stopTimer()
      }
    })
  }

  function startTimer(
    ms: number | undefined,
    scope: Scope,
    what: string,
    clock: Clock,
    controller: AbortController,
  ): () => void {
    if (ms === undefined) return () => {}
    const message = `${what} ${ms} ms ("${as}").`
    return clock.after(ms, () =>
      controller.abort(new AlliumError(`${scope}.timeout`, message, { details: { layer: as, ms } })),
    )
  }
}
