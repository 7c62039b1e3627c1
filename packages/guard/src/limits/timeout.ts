import { AlliumError, defineMiddleware, misconfigured, option, type TypedMiddleware } from '@allium/core'
import { isInherited } from '@allium/core/context'
import { Deadline } from './deadline.ts'
import { type LimitOptions, limitOptions } from './limit-options.ts'

export interface TimeoutOptions extends LimitOptions {
  /** Timeout of a whole turn, in milliseconds. */
  turn?: number | undefined
  /** Timeout of a model call in milliseconds, including attempts by inner layers. */
  model?: number | undefined
  /** The longest silence between two chunks of a model, in milliseconds. Time that a slow reader takes does not count. */
  chunk?: number | undefined
  /** The same before the first chunk. @default `chunk` */
  firstChunk?: number | undefined
  /** Timeout of a tool call in milliseconds, including waits of inner layers. The agent's `toolTimeout` limits only `execute`. */
  tool?: number | undefined
}

/** Layers that wait between calls or hold an answer until its end. From outside, they look silent. */
const silentLayers = ['retries', 'repairs', 'guard:output', 'guard:judge']

const duration = option.number({ above: 0 })
const readOptions = limitOptions<TimeoutOptions>('guard:timeout', {
  turn: duration,
  model: duration,
  chunk: duration,
  firstChunk: duration,
  tool: duration,
})

/**
 * Limits the time of turns, model calls and tool calls, and cancels those that exceed it: the provider's connection is closed and
 * the tool's signal aborts. A late turn or model call fails with `turn.timeout` or `model.timeout`, which an outer layer may catch (a
 * fallback continues with the next model). A late tool call becomes an error result for the model.
 *
 * Outside of a retry it limits all attempts together; inside, each attempt. Register `chunk` inside retries and inside layers that
 * hold answers back (`guard.output`), because it treats their waits as silence. Calls of sub-agents have the `model` and `tool`
 * timeouts too, each including its retries.
 *
 * @throws AlliumError `layer.config` when no timeout is set, or one is not above 0
 * @example
 * agent.use(guard.timeout({ turn: 300_000, chunk: 30_000 }))
 */
export function timeout(options: TimeoutOptions): TypedMiddleware<{}> {
  const { turn, model, chunk, firstChunk = chunk, tool, as } = readOptions(options)
  if ([turn, model, firstChunk, tool].every((time) => time === undefined))
    throw misconfigured(as, 'needs milliseconds above 0 for turn, model, chunk, firstChunk or tool.')

  return defineMiddleware({
    name: as,
    options: { turn, model, chunk, firstChunk, tool },
    inherit: true,
    order: { is: ['timeouts'], ...(firstChunk !== undefined && { inside: silentLayers }) },
    ...(turn !== undefined && { turn: (ctx, next) => new Deadline(as, 'turn', ctx.clock).run(turn, next) }),
    ...((model !== undefined || firstChunk !== undefined) && {
      model(ctx, next) {
        const deadline = new Deadline(as, 'model', ctx.clock)
        // Around a sub-agent's retries, and around layers that hold its answers back, waits look like silence.
        if (firstChunk !== undefined && !isInherited(ctx)) deadline.watchChunks(ctx, firstChunk, chunk)
        return deadline.run(model, next)
      },
    }),
    ...(tool !== undefined && {
      async tool(ctx, next) {
        try {
          return await new Deadline(as, 'tool', ctx.clock).run(tool, next)
        } catch (error) {
          if (!(error instanceof AlliumError) || error.details.layer !== as) throw error
          return { content: `The tool "${ctx.tool.name}" took longer than ${tool} ms.`, isError: true, error }
        }
      },
    }),
  })
}
