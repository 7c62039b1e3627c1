import type { Usage } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { costAt, costOfRates, type Price } from './cost.ts'
import { splitModelId } from './model-id.ts'
import { publicList } from './public-list.ts'

/**
 * Your own prices, which override the public list: by model id, `openai/gpt-5`, or for a whole provider,
 * `mycloud/*`; or a function that returns USD, or undefined for an unknown model.
 */
export type Prices = Readonly<Record<string, Price>> | ((model: string, usage: Usage) => number | undefined)

const priceKeys: KeysOf<Price> = {
  input: true,
  output: true,
  cachedInput: true,
  cacheWrite: true,
  cacheWriteHour: true,
}

/**
 * Returns the cost of a model's usage in USD; undefined if its price is unknown. A call without tokens, which failed before its first
 * chunk, costs nothing.
 */
export type CostOf = (model: string, usage: Usage) => Promise<number | undefined>

/**
 * Creates pricing from the given prices, then from the provider's own figure, then from the list of @pydantic/genai-prices, which is
 * bundled and needs no network.
 * Ollama models are free unless the given prices include them. The list begins to load immediately, so that calls do not wait for it.
 *
 * @example
 * const costOf = createPricing({ 'mycloud/*': { input: 1, output: 2 } })
 * await costOf('openai/gpt-5', usage) // USD
 */
export function createPricing(prices: Prices = {}): CostOf {
  for (const [model, price] of Object.entries(prices))
    checkOptions(price ?? null, priceKeys, `The price of "${model}"`, 'layer.config')
  list.load().catch(() => {}) // fails again, and reports it, when it is used
  return async (model, usage) => {
    if (usage.inputTokens + usage.outputTokens === 0) return usage.reportedCost ?? 0
    const price = typeof prices === 'function' ? prices(model, usage) : fromTable(prices, model, usage)
    if (price !== undefined) return price
    if (usage.reportedCost !== undefined) return usage.reportedCost
    if (splitModelId(model).providerId === 'ollama') return 0
    const rates = await list.rates(model)
    return rates && costOfRates(rates, usage)
  }
}

/** One list per process, because it takes 60 ms to load. */
const list = publicList()

function fromTable(prices: Readonly<Record<string, Price>>, model: string, usage: Usage): number | undefined {
  const price = ownPrice(prices, model) ?? ownPrice(prices, `${splitModelId(model).providerId}/*`)
  return price && costAt(price, usage)
}

function ownPrice(prices: Readonly<Record<string, Price>>, key: string): Price | undefined {
  return Object.hasOwn(prices, key) ? prices[key] : undefined
}
