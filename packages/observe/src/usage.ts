import {
  addUsage,
  defineMiddleware,
  layerOptions,
  type ModelContext,
  noUsage,
  option,
  sum,
  type TypedMiddleware,
  type Usage,
  withState,
} from '@allium/core'
import { physicalCallsOf } from '@allium/core/context'
import type { PhysicalCall } from '@allium/core/internal'
import { createPricing, createUnpricedWarning, type Prices } from '@allium/shared/prices'
import { usageRecords } from './usage-records.ts'

export interface UsageOptions<Name extends string = string> {
  /** Your own prices; they override the provider's own figure and the public list. Ollama models are free unless they are listed here. */
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
  const priceOf = createPricing(prices)
  const warnUnpriced = createUnpricedWarning(as, 'its cost is left out')
  const keys = { tokens: `${as}:tokens`, cost: `${as}:cost`, unpriced: `${as}:unpriced`, models: `${as}:models` }
  const records = record ? usageRecords(priceOf) : undefined

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
    ...(records && {
      turn: records.turn,
      tool: records.tool,
    }),
    async model(ctx, next) {
      await records?.begin(ctx)
      try {
        return await next()
      } finally {
        for (const call of physicalCallsOf(ctx)) {
          const cost = await priceOf(call.model, call.usage).catch(() => undefined)
          count(ctx, call, cost)
          await records?.add(ctx, call, cost)
        }
      }
    },
  })
  return withState<UsageState<Name>>(layer)

  function count(
    { state, logger }: ModelContext<Record<string, unknown>>,
    { model, usage: used }: PhysicalCall,
    cost: number | undefined,
  ): void {
    state[keys.tokens] = used
    if (cost === undefined) {
      state[keys.unpriced] = 1
      warnUnpriced(logger, model)
    } else state[keys.cost] = cost
    state[keys.models] = [model, { ...used, cost }]
  }
}

function sumUsage(total: Usage, added: Usage): Usage {
  const newTotal = { ...total }
  addUsage(newTotal, added)
  return newTotal
}

type Models = Readonly<Record<string, ModelUsage>>

function addModelUsage(models: Models, [model, used]: [string, ModelUsage]): Models {
  const previous = Object.hasOwn(models, model) ? models[model] : undefined
  const modelTotal = { ...sumUsage(previous ?? noUsage(), used), cost: addCost(previous, used) }
  // Not by assignment: a model may be named __proto__.
  return Object.fromEntries([...Object.entries(models), [model, modelTotal]])
}

/** A total with unknown parts is the total of the known ones. */
function addCost(previous: ModelUsage | undefined, { cost }: ModelUsage): number | undefined {
  return previous?.cost === undefined || cost === undefined ? (previous?.cost ?? cost) : previous.cost + cost
}
