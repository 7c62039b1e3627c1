import {
  defineMiddleware,
  layerOptions,
  option,
  sum,
  type ToolContext,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { ending } from './ending.ts'
import { namesTool } from './tool-names.ts'

export interface MaxToolCallsOptions<Name extends string = string> {
  /** Calls that a turn, or a session, may make. */
  limit: number
  /** The tools that count, by name; `*` stands for any text. @default all */
  tools?: readonly string[]
  /** @default 'turn' */
  per?: 'turn' | 'session'
  /** What the call gets that is one too many: the model is told that there are no more, the loop ends after this step, the turn is blocked, or aborted. @default 'deny' */
  onLimit?: 'deny' | 'stop' | 'block' | 'abort'
  /** The layer's name, and how its state key begins. @default 'guard:maxToolCalls' */
  as?: Name
}

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
 * layers. Register it anywhere: a call that another layer answers or denies does not count.
 *
 * @throws AlliumError `layer.config` for a limit below 0, or where `tools` names none
 * @example
 * agent.use(guard.maxToolCalls({ limit: 3, tools: ['search'] }))
 */
export function maxToolCalls<Name extends string = 'guard:maxToolCalls'>(
  given: MaxToolCallsOptions<Name>,
): TypedMiddleware<Record<`${Name}:calls`, number>> {
  const { limit, tools = ['*'], per = 'turn', onLimit = 'deny', as = 'guard:maxToolCalls' as Name } = readOptions(given)
  const key = `${as}:calls`
  const layer = defineMiddleware<Record<string, number>>({
    name: as,
    order: { is: ['limits'] },
    innermost: true,
    inherit: true,
    state: { [key]: sum({ scope: per }) },
    async tool(ctx, next) {
      if (!namesTool(tools, ctx.tool.name)) return next()
      if ((ctx.state[key] ?? 0) >= limit) return refuse(ctx)
      ctx.state[key] = 1
      return next()
    },
  })
  return withState<Record<`${Name}:calls`, number>>(layer)

  function refuse(ctx: ToolContext) {
    const reason = `The limit of ${limit} calls of "${ctx.tool.name}" per ${per} is used up. Go on without it.`
    if (onLimit === 'block') return ctx.block(`"${as}": ${reason}`, ending('guard.max_tool_calls'))
    if (onLimit === 'abort') return ctx.abort(`"${as}": ${reason}`)
    if (onLimit === 'stop') ctx.stop(`"${as}": ${reason}`)
    return ctx.deny(reason)
  }
}
