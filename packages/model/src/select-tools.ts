import {
  type AnyMiddleware,
  defineMiddleware,
  layerOptions,
  type ModelContext,
  type ModelRef,
  misconfigured,
  option,
  sum,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { ToolPicker } from './tool-picker.ts'

type Names = readonly string[]

export interface SelectToolsOptions<Name extends string = string> {
  /** Names of the tools that are shown; a function is called for each model call. Unknown names are ignored. */
  tools?: Names | ((ctx: ModelContext) => Names | Promise<Names>)
  /** A model that picks tools by the user's input once per turn, instead of names. A small one is enough. */
  model?: ModelRef | undefined
  /**
   * The maximum number of picked tools; the first ones named are used. If there are no more tools than that, the model is not called.
   * @default no limit
   */
  maxTools?: number | undefined
  /** Names of tools that are always shown; they do not count toward limits. @default none */
  always?: Names | undefined
  /** Additional information for the picking model, in plain words. */
  instructions?: string | undefined
  /** Layers around the picking model's calls: a `guard.budget` with the agent's ledger, a `guard.timeout`. @default none */
  use?: readonly AnyMiddleware[] | undefined
  /** The layer's name, and the prefix of its state keys. @default 'model:selectTools' */
  as?: Name | undefined
}

/** The tools of the turn's last call (null for all), and the tokens that picking has used in the session. */
export type SelectToolsState<Name extends string> = Record<`${Name}:shown`, string[] | null> &
  Record<`${Name}:tokens`, number>

const readOptions = layerOptions<SelectToolsOptions>('model:selectTools', {
  tools: option.either(option.list(option.text), option.fn),
  model: option.any,
  maxTools: option.number({ from: 1 }),
  always: option.list(option.text),
  instructions: option.text,
  use: option.list(option.any),
})

/**
 * Shows the model only the tools that it needs: by name, by a function, or chosen by a small model.
 *
 * A tool that was not shown does not run, even if the model calls it. If picking fails, all tools are shown. This layer saves tokens
 * and mistakes, but it is not an authorization; use `guard.policy` for that. The picking model's tokens are reported in state and
 * event.
 *
 * @throws AlliumError `layer.config` unless there is either `tools` or `model`, or for a limit below 1
 * @example
 * agent.use(model.selectTools({ model: small, maxTools: 5, always: ['search'] }))
 */
export function selectTools<Name extends string = 'model:selectTools'>(
  options: SelectToolsOptions<Name>,
): TypedMiddleware<SelectToolsState<Name>> {
  const {
    tools,
    model,
    maxTools = Number.POSITIVE_INFINITY,
    always = [],
    instructions,
    use = [],
    as = 'model:selectTools' as Name,
  } = readOptions(options)
  if ((tools === undefined) === (model === undefined))
    throw misconfigured(as, 'needs either tools or a model that picks them.')
  if (!Number.isInteger(maxTools) && maxTools !== Number.POSITIVE_INFINITY)
    throw misconfigured(as, `needs maxTools as a whole number, but ${maxTools} was given.`)
  const picker = model && new ToolPicker({ name: as, model, maxTools, instructions, use })
  const namedTools = (ctx: ModelContext) =>
    typeof tools === 'function' ? ctx.once('choice', () => tools(ctx), { per: 'attempt' }) : (tools ?? [])

  const layer = defineMiddleware<Record<string, unknown>>({
    name: as,
    // A list of names selects the same tools in each turn.
    order: { is: Array.isArray(tools) ? ['shapes'] : ['shapes', 'changesPrefix'] },
    state: {
      [`${as}:shown`]: { default: null, scope: 'turn' },
      [`${as}:tokens`]: sum(),
    },
    async model(ctx, next) {
      const fixedNames = [...always, ...requiredTools(ctx)]
      const chosenNames = await (picker === undefined ? namedTools(ctx) : picker.pick(ctx, fixedNames))
      const selected = new Set([...chosenNames, ...fixedNames])
      const visibleTools = ctx.request.tools.filter(({ name }) => selected.has(name))
      ctx.toolDefs = visibleTools
      if (visibleTools.length === 0 && ctx.toolChoice === 'required') ctx.toolChoice = 'auto'
      ctx.state[`${as}:shown`] = visibleTools.map(({ name }) => name)
      return next()
    },
    tool(ctx, next) {
      const shown = ctx.state[`${as}:shown`] as string[] | null
      const { name } = ctx.tool
      if (shown !== null && !shown.includes(name)) return ctx.deny(`The tool "${name}" is not available now.`)
      return next()
    },
  })
  return withState<SelectToolsState<Name>>(layer)
}

/** Returns the tools that the call requires: the forced tool and the answer tool. */
function requiredTools({ toolChoice, plan }: ModelContext<Record<string, unknown>>): string[] {
  const names = typeof toolChoice === 'object' ? [toolChoice.name] : []
  return plan.answerTool === undefined ? names : [...names, plan.answerTool]
}
