import { defineMiddleware, layerOptions, type TypedMiddleware, withState } from '@allium/core'
import { knownTool } from './known-tool.ts'
import { stopwatch } from './stopwatch.ts'

export interface ToolsOptions<Name extends string = string> {
  /** The layer's name, and the prefix of its state key. @default 'observe:tools' */
  as?: Name | undefined
}

/** Statistics of a tool's calls. A call that waits for a human counts once it is decided. */
export interface ToolStats {
  calls: number
  /** The calls that returned an error to the model. */
  errors: number
  /** The calls that were denied. */
  denied: number
  /** The calls that were interrupted: by an abort, a block, or a layer that failed. */
  cancelled: number
  /** The total time in milliseconds. */
  time: number
}

/** The session's statistics by tool name. */
export type ToolsState<Name extends string> = Record<`${Name}:calls`, Readonly<Record<string, ToolStats>>>

const readOptions = layerOptions<ToolsOptions>('observe:tools', {})

/**
 * Counts the calls of each tool, with their outcomes and total time.
 *
 * Register it outside `tools.retry` to count calls as the model made them, or inside to count every attempt. Tool names that the model
 * made up count together as `(unknown)`.
 *
 * @example
 * const { state } = await agent.use(observe.tools()).run('Refund my order')
 * console.log(state['observe:tools:calls'].refund)
 */
export function tools<Name extends string = 'observe:tools'>(
  options: ToolsOptions<Name> = {},
): TypedMiddleware<ToolsState<Name>> {
  const { as = 'observe:tools' as Name } = readOptions(options)
  const key = `${as}:calls`
  const layer = defineMiddleware<Record<string, unknown>>({
    name: as,
    // Not `observes`: it stores no text that an outer layer would have to redact.
    order: { is: ['traces'] },
    inherit: true,
    state: { [key]: { default: {}, reducer: addCall } },
    async tool(ctx, next) {
      const ms = stopwatch(ctx.clock)
      let outcome: CallOutcome = 'cancelled'
      try {
        const result = await next()
        outcome = { ok: 'ok', skipped: 'ok', error: 'errors', denied: 'denied', suspended: 'waits' }[
          result.status
        ] as CallOutcome
        if (outcome === 'ok' && result.isError === true) outcome = 'errors'
        return result
      } finally {
        if (outcome !== 'waits') ctx.state[key] = [knownTool(ctx), outcome, ms() ?? 0]
      }
    },
  })
  return withState<ToolsState<Name>>(layer)
}

type CallOutcome = 'ok' | 'errors' | 'denied' | 'cancelled' | 'waits'
type Stats = Readonly<Record<string, ToolStats>>

function addCall(stats: Stats, [name, outcome, time]: [string, CallOutcome, number]): Stats {
  const previous = Object.hasOwn(stats, name) ? stats[name] : undefined
  const sum = { ...(previous ?? { calls: 0, errors: 0, denied: 0, cancelled: 0, time: 0 }) }
  sum.calls++
  sum.time += time
  if (outcome === 'errors' || outcome === 'denied' || outcome === 'cancelled') sum[outcome]++
  // Not by assignment: a tool may be named __proto__.
  return Object.fromEntries([...Object.entries(stats), [name, sum]])
}
