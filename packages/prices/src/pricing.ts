import { checkOptions, type KeysOf, type Usage } from '@allium/core'
import { costAt, costOfRates, type Price } from './cost.ts'
import { splitModelId } from './model-id.ts'
import { publicList } from './public-list.ts'

/**
 * Prices of one's own, which win over the public list: by model id, `openai/gpt-5`, or for a whole provider,
 * `mycloud/*`; or a function that gives USD, and undefined where it does not know.
 */
export type Prices = Readonly<Record<string, Price>> | ((model: string, usage: Usage) => number | undefined)

const priceKeys: KeysOf<Price> = { input: true, output: true, cachedInput: true, cacheWrite: true }

/** What a model's usage costs in USD; undefined where nobody knows its price. A call without tokens, which failed before its first chunk, costs nothing. */
export type CostOf = (model: string, usage: Usage) => Promise<number | undefined>

/**
 * Prices by the given ones, then by the list of @pydantic/genai-prices, which is part of the package: no network.
 * Models of Ollama are free unless the given ones say otherwise. The list begins to load at once, so that no call has
 * to wait for it.
 *
 * @example
 * const costOf = createPricing({ 'mycloud/*': { input: 1, output: 2 } })
 * await costOf('openai/gpt-5', usage) // USD
 */
export function createPricing(prices: Prices = {}): CostOf {
  for (const [model, price] of Object.entries(prices))
    checkOptions(price ?? null, priceKeys, `The price of "${model}"`, 'layer.config')
  list.load().catch(() => {}) // it fails again, and is told, where it is asked
  return async (model, usage) => {
    if (usage.inputTokens + usage.outputTokens === 0) return 0
    const price = typeof prices === 'function' ? prices(model, usage) : fromTable(prices, model, usage)
    if (price !== undefined) return price
    if (splitModelId(model).providerId === 'ollama') return 0
    const rates = await list.rates(model)
    return rates && costOfRates(rates, usage)
  }
}

/** One for the process, as it is the same for all and takes 60 ms to load. */
const list = publicList()

function fromTable(prices: Readonly<Record<string, Price>>, model: string, usage: Usage): number | undefined {
  const price = ownPrice(prices, model) ?? ownPrice(prices, `${splitModelId(model).providerId}/*`)
  return price && costAt(price, usage)
}

function ownPrice(prices: Readonly<Record<string, Price>>, key: string): Price | undefined {
  return Object.hasOwn(prices, key) ? prices[key] : undefined
}
