import { defineMiddleware, option, sum, type ToolContext, type TypedMiddleware, withState } from '@allium/core'
import { blockOptions } from '../rules/guard-codes.ts'
import { matchesToolName } from '../rules/tool-names.ts'
import { counted } from './counted.ts'
import { type LimitOptions, limitOptions } from './limit-options.ts'

export interface MaxToolCallsOptions<Name extends string = string> extends LimitOptions<Name> {
  /** How many calls a turn or session may make. */
  limit: number
  /** The tools that count, by name; `*` matches any text. @default all */
  tools?: readonly string[] | undefined
  /** @default 'turn' */
  per?: 'turn' | 'session' | undefined
  /**
   * What happens to the first call over the limit: it is denied and the model learns that there are no more, the loop ends after this step,
   * or the turn is blocked or aborted. @default 'deny'
   */
  onLimit?: 'deny' | 'stop' | 'block' | 'abort' | undefined
}

/** The number of counted calls, and the ids of those that are waiting for a human. */
export type MaxToolCallsState<Name extends string> = Record<`${Name}:calls`, number> &
  Record<`${Name}:waiting`, string[]>

const readOptions = limitOptions<MaxToolCallsOptions>('guard:maxToolCalls', {
  limit: option.required(option.number({ from: 0 }), 'the calls that may be made'),
  tools: option.some(option.text),
  per: option.oneOf('turn', 'session'),
  onLimit: option.oneOf('deny', 'stop', 'block', 'abort'),
})

/**
 * Limits the number of tool calls, for all tools or for some.
 *
 * Use it for tools that are expensive, or harmful when a model repeats them. Each layer counts separately: for two limits, use two
 * layers. Register it before layers that ask humans, so that they are only asked about calls that may run. A call that another
 * layer answers or denies does not count. A call that a human has approved is not refused.
 *
 * @throws AlliumError `layer.config` for a limit below 0, or when `tools` is empty; `tool.invalid` at init() when it counts calls of
 * a tool that the provider runs
 * @example
 * agent.use(guard.maxToolCalls({ limit: 3, tools: ['search'] }))
 */
export function maxToolCalls<Name extends string = 'guard:maxToolCalls'>(
  given: MaxToolCallsOptions<Name>,
): TypedMiddleware<MaxToolCallsState<Name>> {
  const { limit, tools = ['*'], per = 'turn', onLimit = 'deny', as } = readOptions(given)
  const [key, waitingKey] = [`${as}:calls`, `${as}:waiting`] as const
  const layer = defineMiddleware<Record<string, unknown>>({
    name: as,
    options: { limit, tools, per, onLimit },
    order: { is: ['limits'], outside: ['asks'] },
    innermost: true,
    inherit: true,
    guards: (name) => matchesToolName(tools, name),
    state: { [key]: sum({ scope: per }), [waitingKey]: { default: [], scope: 'turn' } },
    async tool(ctx, next) {
      if (!matchesToolName(tools, ctx.tool.name)) return next()
      const suspendedCalls = ctx.state[waitingKey] as string[]
      if (suspendedCalls.includes(ctx.callId)) ctx.state[waitingKey] = suspendedCalls.filter((id) => id !== ctx.callId)
      // An approval of this very call overrides the limit.
      else if (ctx.approval === undefined && (ctx.state[key] as number) >= limit) return rejectCall(ctx)
      else ctx.state[key] = 1
      const result = await next()
      if (result.status === 'suspended') ctx.state[waitingKey] = [...(ctx.state[waitingKey] as string[]), ctx.callId]
      else if (result.status === 'denied' || result.status === 'skipped') ctx.state[key] = -1
      return result
    },
  })
  return withState<MaxToolCallsState<Name>>(layer)

  function rejectCall(ctx: ToolContext) {
    const reason = `The limit of ${counted(limit, 'call')} of "${ctx.tool.name}" per ${per} is used up. Go on without it.`
    if (onLimit === 'block') return ctx.block(`"${as}": ${reason}`, blockOptions('guard.max_tool_calls'))
    if (onLimit === 'abort') return ctx.abort(`"${as}": ${reason}`)
    if (onLimit === 'stop') ctx.stop(`"${as}": ${reason}`)
    return ctx.deny(reason)
  }
}
