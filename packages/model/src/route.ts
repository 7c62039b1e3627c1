import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  type ModelRef,
  misconfigured,
  option,
  type TypedMiddleware,
} from '@allium/core'

/** A rule that sends some calls to a model. */
export interface RouteRule {
  /** Which calls the rule applies to: by `ctx.principal`, `ctx.input`, `ctx.stepIndex`, `ctx.request` and so on. */
  when(ctx: ModelContext): boolean | Promise<boolean>
  /** A model, or a string that the agent resolves. */
  model: ModelRef
}

export interface RouteOptions {
  /** The first matching rule selects the model. */
  rules?: readonly RouteRule[] | undefined
  /**
   * Returns the model, instead of rules; undefined selects the agent's own. In a replay, a string is read from the journal, while for an
   * object the function is called again.
   */
  to?(ctx: ModelContext): ModelRef | undefined | void | Promise<ModelRef | undefined | void>
  /** The layer's name. @default 'model:route' */
  as?: string | undefined
}

const readOptions = layerOptions<RouteOptions>('model:route', {
  rules: option.list(option.shape<RouteRule>({ when: option.required(option.fn), model: option.required(option.any) })),
  to: option.fn,
})

/**
 * Chooses a model for each call: by the tenant's plan, the length of the input, or the step.
 *
 * If no rule applies, the model of the run or the agent is called. Put it outside of `model.fallback`, which starts from the chosen
 * model. A change emits a `model:route` event.
 *
 * @throws AlliumError `layer.config` unless it has rules or a function
 * @example
 * agent.use(model.route({ rules: [{ when: ({ principal }) => planOf(principal) === 'free', model: 'openai/gpt-5-mini' }] }))
 */
export function route(options: RouteOptions): TypedMiddleware<{}> {
  const { rules = [], to, as = 'model:route' } = readOptions(options)
  if (rules.length > 0 === (to !== undefined)) throw misconfigured(as, 'needs either rules or a function to, not both.')
  const choose =
    to === undefined
      ? (ctx: ModelContext) => selectByRule(rules, ctx)
      : (ctx: ModelContext) => selectByFunction(to, ctx)

  return defineMiddleware({
    name: as,
    order: { is: ['routes'], outside: ['fallbacks', 'caches'] },
    async model(ctx, next) {
      const from = ctx.model
      const selected = await choose(ctx)
      if (selected !== undefined) ctx.setModel(selected)
      if (ctx.model !== from) ctx.emit({ type: 'model:route', from, to: ctx.model })
      return next()
    },
  })
}

/** A replay makes the same choice. */
async function selectByRule(rules: readonly RouteRule[], ctx: ModelContext): Promise<ModelRef | undefined> {
  const ruleIndex = await ctx.once('choice', () => findMatchingRule(rules, ctx), { per: 'attempt' })
  return rules[ruleIndex]?.model
}

async function findMatchingRule(rules: readonly RouteRule[], ctx: ModelContext): Promise<number> {
  for (const [i, { when }] of rules.entries()) if (await when(ctx)) return i
  return -1
}

/** A replay makes the same choice. A model object is not recorded, so the function is called again. */
async function selectByFunction(to: NonNullable<RouteOptions['to']>, ctx: ModelContext): Promise<ModelRef | undefined> {
  let options: { model: ModelRef | undefined } | undefined
  const choose = async (): Promise<{ name: string } | 'none' | 'object'> => {
    const model = (await to(ctx)) ?? undefined
    options = { model }
    if (typeof model === 'string') return { name: model }
    return model === undefined ? 'none' : 'object'
  }
  const selected = await ctx.once('choice', choose, { per: 'attempt' })
  if (options !== undefined) return (options as { model: ModelRef | undefined }).model
  if (selected === 'none') return undefined
  return selected === 'object' ? ((await to(ctx)) ?? undefined) : selected.name
}

/** A call uses a model other than the agent's own. */
export interface ModelRoute {
  type: 'model:route'
  /** Ids of the models. */
  from: string
  to: string
}

declare module '@allium/core' {
  interface AgentEvents {
    'model:route': ModelRoute
  }
}
