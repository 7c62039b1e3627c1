import {
  defineMiddleware,
  layerOptions,
  option,
  sum,
  type ToolContext,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { blockOptions } from './block-options.ts'
import { matchesToolName } from './tool-names.ts'

export interface MaxToolCallsOptions<Name extends string = string> {
  /** Calls that a turn, or a session, may make. */
  limit: number
  /** The tools that count, by name; `*` stands for any text. @default all */
  tools?: readonly string[] | undefined
  /** @default 'turn' */
  per?: 'turn' | 'session' | undefined
  /** What the call gets that is one too many: the model is told that there are no more, the loop ends after this step, the turn is blocked, or aborted. @default 'deny' */
  onLimit?: 'deny' | 'stop' | 'block' | 'abort' | undefined
  /** The layer's name, and how its state key begins. @default 'guard:maxToolCalls' */
  as?: Name | undefined
}

/** The calls that count so far, and the ids of those among them that wait for a human. */
export type MaxToolCallsState<Name extends string> = Record<`${Name}:calls`, number> &
  Record<`${Name}:waiting`, string[]>

const readOptions = layerOptions<MaxToolCallsOptions>('guard:maxToolCalls', {
  limit: option.required(option.number({ from: 0 }), 'the calls that may be made'),
  tools: option.some(option.text),
  per: option.oneOf('turn', 'session'),
  onLimit: option.oneOf('deny', 'stop', 'block', 'abort'),
})

/**
 * Refuses tool calls beyond a number: of all tools, or of some.
 *
 * For tools that cost or that do harm when a model repeats them. Each layer counts for itself: give two limits as two
 * layers. Register it before what asks humans, who are then asked about calls alone that may run; a call that another layer
 * answers or denies does not count, and one that a human has decided is not refused.
 *
 * @throws AlliumError `layer.config` for a limit below 0, or where `tools` names none; `tool.invalid` at init() where it counts
 * calls of a tool that the provider runs
 * @example
 * agent.use(guard.maxToolCalls({ limit: 3, tools: ['search'] }))
 */
export function maxToolCalls<Name extends string = 'guard:maxToolCalls'>(
  given: MaxToolCallsOptions<Name>,
): TypedMiddleware<MaxToolCallsState<Name>> {
  const { limit, tools = ['*'], per = 'turn', onLimit = 'deny', as = 'guard:maxToolCalls' as Name } = readOptions(given)
  const [key, waitingKey] = [`${as}:calls`, `${as}:waiting`] as const
  const layer = defineMiddleware<Record<string, unknown>>({
    name: as,
    order: { is: ['limits'], outside: ['asks'] },
    innermost: true,
    inherit: true,
    guards: (name) => matchesToolName(tools, name),
    state: { [key]: sum({ scope: per }), [waitingKey]: { default: [], scope: 'turn' } },
    async tool(ctx, next) {
      if (!matchesToolName(tools, ctx.tool.name)) return next()
      const suspendedCalls = ctx.state[waitingKey] as string[]
      if (suspendedCalls.includes(ctx.callId)) ctx.state[waitingKey] = suspendedCalls.filter((id) => id !== ctx.callId)
      // Who has decided this very call has had the last word.
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
    const reason = `The limit of ${limit} calls of "${ctx.tool.name}" per ${per} is used up. Go on without it.`
    if (onLimit === 'block') return ctx.block(`"${as}": ${reason}`, blockOptions('guard.max_tool_calls'))
    if (onLimit === 'abort') return ctx.abort(`"${as}": ${reason}`)
    if (onLimit === 'stop') ctx.stop(`"${as}": ${reason}`)
    return ctx.deny(reason)
  }
}
