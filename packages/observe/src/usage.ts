import {
  addUsage,
  defineMiddleware,
  isAlliumError,
  layerOptions,
  type ModelContext,
  noUsage,
  option,
  sum,
  type ToolContext,
  type ToolResult,
  type TurnView,
  type TypedMiddleware,
  type Usage,
  withState,
} from '@allium/core'
import { isInherited, isRecorded, isReplaying, physicalCallsOf, record as recordWithRun } from '@allium/core/context'
import type { PhysicalCall } from '@allium/core/internal'
import { createPricing, createUnpricedWarning, type Prices } from '@allium/shared/prices'
import { type BegunCall, CutCalls, runKeyOf } from './cut-calls.ts'

export interface UsageOptions<Name extends string = string> {
  /** Your own prices; they override the public list. Ollama models are free unless they are listed here. */
  prices?: Prices | undefined
  /** Whether each physical call is also recorded with the topic `usage`, which invoicing reads from the store's outbox. @default false */
  record?: boolean | undefined
  /** The layer's name, and the prefix of its state keys. @default 'observe:usage' */
  as?: Name | undefined
}

/** The usage of one model and its cost in USD; undefined if the price is unknown. */
export interface ModelUsage extends Usage {
  cost: number | undefined
}

/** The record of a physical call. The outbox also has its tenant and run. */
export interface UsageRecord {
  agent: string
  model: string
  usage: Usage
  /** In USD; absent if the price is unknown. */
  cost?: number
  /**
   * The process of a durable run was lost during the call, and another process made the call again. The provider may have billed it: the
   * usage has the call's input, as an estimate.
   */
  cut?: true
  /** The id of the call's step in the run's journal, for the timeline of a durable run. */
  step?: string
}

/** The session's totals. `unpriced` counts the calls with an unknown price, which `cost` leaves out. */
export type UsageState<Name extends string> = Record<`${Name}:tokens`, Usage> &
  Record<`${Name}:cost` | `${Name}:unpriced`, number> &
  Record<`${Name}:models`, Readonly<Record<string, ModelUsage>>>

const readOptions = layerOptions<UsageOptions>('observe:usage', {
  prices: option.either(option.object, option.fn),
  record: option.flag,
})

/**
 * Counts tokens and USD of a session, in total and by model.
 *
 * Register it anywhere. It always runs directly around the provider, so it counts each physical call, including retries and failed
 * calls, and no cached answers. A call with an unknown price adds 1 to `unpriced` and nothing to the cost. If `unpriced` is above 0,
 * the cost is incomplete (`guard.budget` uses its `fallbackPrice` for such calls).
 *
 * @example
 * const { state } = await agent.use(observe.usage()).run('Hello')
 * console.log(state['observe:usage:tokens'].outputTokens, state['observe:usage:cost'])
 */
export function usage<Name extends string = 'observe:usage'>(
  options: UsageOptions<Name> = {},
): TypedMiddleware<UsageState<Name>> {
  const { prices, record = false, as = 'observe:usage' as Name } = readOptions(options)
  const pricing = createPricing(prices)
  const warnUnpriced = createUnpricedWarning(as, 'its cost is left out')
  const keys = { tokens: `${as}:tokens`, cost: `${as}:cost`, unpriced: `${as}:unpriced`, models: `${as}:models` }

  /** By the turn's metadata. The turn records the usage of a call that a timeout abandoned. */
  const turns = new WeakMap<object, TurnView>()
  /** By run, while it lasts. */
  const cutCalls = new Map<string, CutCalls>()

  const layer = defineMiddleware<Record<string, unknown>>({
    name: as,
    // Its work around a turn does not meter anything.
    order: { is: ['meters'], scopes: ['model'] },
    innermost: true,
    inherit: true,
    state: {
      [keys.tokens]: { default: noUsage, reducer: sumUsage },
      [keys.cost]: sum(),
      [keys.unpriced]: sum(),
      [keys.models]: { default: {}, reducer: addModelUsage },
    },
    ...(record && {
      turn(ctx: TurnView<Record<string, unknown>>, next: () => Promise<void>) {
        turns.set(ctx.metadata, ctx)
        return isInherited(ctx) ? next() : recordTurn(ctx, next)
      },
      async tool(ctx: ToolContext<Record<string, unknown>>, next: () => Promise<ToolResult>) {
        const result = await next()
        const hasRun = !isAlliumError(result.error, 'tool.outcome_unknown')
        if (isReplaying(ctx) && hasRun) cutCalls.get(runKeyOf(ctx))?.replayed(ctx)
        return result
      },
    }),
    async model(ctx, next) {
      for (const call of (await cutCalls.get(runKeyOf(ctx))?.begin(ctx)) ?? [])
        await recordCutCall(recorderOf(ctx), call)
      try {
        return await next()
      } finally {
        for (const call of physicalCallsOf(ctx)) await count(ctx, call)
      }
    },
  })
  return withState<UsageState<Name>>(layer)

  async function count(ctx: ModelContext<Record<string, unknown>>, call: PhysicalCall): Promise<void> {
    const { state, logger } = ctx
    const { model, usage } = call
    const cost = await pricing(model, usage).catch(() => undefined)
    state[keys.tokens] = usage
    if (cost === undefined) {
      state[keys.unpriced] = 1
      warnUnpriced(logger, model)
    } else state[keys.cost] = cost
    state[keys.models] = [model, { ...usage, cost }]
    if (record) recordCall(recorderOf(ctx), ctx.agent.name, { model, usage, cost, step: await stepOf(ctx) })
  }

  function recorderOf(ctx: ModelContext): TurnView {
    return turns.get(ctx.metadata) ?? ctx
  }

  /** Also records the calls that were cut and are not made again, for example because the run was stopped. */
  async function recordTurn(ctx: TurnView, next: () => Promise<void>): Promise<void> {
    const run = runKeyOf(ctx)
    const calls = await CutCalls.of(ctx)
    cutCalls.set(run, calls)
    try {
      await next()
    } finally {
      cutCalls.delete(run)
      for (const call of calls.rest()) await recordCutCall(ctx, call)
    }
  }

  async function recordCutCall(recorder: TurnView, { agent, model, inputTokens }: BegunCall): Promise<void> {
    const usage: Usage = { ...noUsage(), inputTokens, calls: 1, estimated: true }
    const cost = await pricing(model, usage).catch(() => undefined)
    recordCall(recorder, agent, { model, usage, cost, cut: true })
  }

  function recordCall(recorder: TurnView, agent: string, { model, usage, cost, cut, step }: RecordedCall): void {
    const usageRecord: UsageRecord = {
      agent,
      model,
      usage: { ...usage },
      ...(cost !== undefined && { cost }),
      ...(cut && { cut }),
      ...(step !== undefined && { step }),
    }
    recordWithRun(recorder, 'usage', usageRecord)
  }
}

type RecordedCall = Pick<UsageRecord, 'model' | 'usage' | 'cut'> &
  Record<'cost', number | undefined> & { step?: string | undefined }

/** Returns the id of the call's step; undefined without a journal. */
async function stepOf(ctx: ModelContext): Promise<string | undefined> {
  return (await isRecorded(ctx)) ? `${ctx.turnId}:model:${ctx.callIndex}:${ctx.attempt}` : undefined
}

function sumUsage(total: Usage, added: Usage): Usage {
  const sum = { ...total }
  addUsage(sum, added)
  return sum
}

type Models = Readonly<Record<string, ModelUsage>>

function addModelUsage(models: Models, [model, used]: [string, ModelUsage]): Models {
  const previous = Object.hasOwn(models, model) ? models[model] : undefined
  const sum = { ...sumUsage(previous ?? noUsage(), used), cost: addCost(previous, used) }
  // Not by assignment: a model may be named __proto__.
  return Object.fromEntries([...Object.entries(models), [model, sum]])
}

/** A total with unknown parts is the total of the known ones. */
function addCost(previous: ModelUsage | undefined, { cost }: ModelUsage): number | undefined {
  return previous?.cost === undefined || cost === undefined ? (previous?.cost ?? cost) : previous.cost + cost
}
