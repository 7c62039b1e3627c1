import type { Usage } from '@allium/core'
import type { Provider } from '@pydantic/genai-prices'

/** USD for a million tokens. */
export interface Price {
  input: number
  output: number
  /** Input that the provider read from its cache. @default input */
  cachedInput?: number
  /** Input that the provider wrote to its cache. @default input */
  cacheWrite?: number
}

/**
 * Prices of one's own, which win over the public list: by model id, `openai/gpt-5`, or for a whole provider,
 * `ollama/*`; or a function that gives USD, and undefined where it does not know.
 */
export type Prices = Readonly<Record<string, Price>> | ((model: string, usage: Usage) => number | undefined)

/** What a model's usage costs in USD; undefined where nobody knows its price. */
export type CostOf = (model: string, usage: Usage) => Promise<number | undefined>

/** Prices by the given ones, then by the list of @pydantic/genai-prices, which is part of the package: no network. */
export function createPricing(prices: Prices = {}): CostOf {
  const listed = publicList()
  return async (model, usage) => {
    if (typeof prices === 'function') return prices(model, usage) ?? listed(model, usage)
    const price = own(prices, model) ?? own(prices, `${split(model).providerId}/*`)
    return price === undefined ? listed(model, usage) : costAt(price, usage)
  }
}

/** USD at a given price. Cached tokens are part of the input tokens. */
function costAt({ input, output, cachedInput = input, cacheWrite = input }: Price, usage: Usage): number {
  const { read, written } = cacheOf(usage)
  const fresh = usage.inputTokens - read - written
  return (fresh * input + read * cachedInput + written * cacheWrite + usage.outputTokens * output) / 1_000_000
}

/** A lookup takes 0.2 ms, so the one entry found for a model is kept. The list takes 60 ms to load: not before it is asked. */
function publicList(): CostOf {
  const known = new Map<string, Provider | undefined>()
  return async (model, usage) => {
    const { calcPrice } = await import('@pydantic/genai-prices')
    const { providerId, modelId } = split(model)
    const { read, written } = cacheOf(usage)
    const counts = {
      input_tokens: usage.inputTokens,
      cache_read_tokens: read,
      cache_write_tokens: written,
      output_tokens: usage.outputTokens,
    }
    if (!known.has(model)) {
      const found = calcPrice(counts, modelId, providerId === undefined ? {} : { providerId })
      if (known.size >= maxKnown) known.clear()
      known.set(model, found === null ? undefined : { ...found.provider, models: [found.model] })
    }
    const provider = known.get(model)
    return provider === undefined ? undefined : calcPrice(counts, modelId, { provider })?.total_price
  }
}

/** Model ids may come from tenants. */
const maxKnown = 500

function cacheOf({ inputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 }: Usage): {
  read: number
  written: number
} {
  const read = Math.min(cachedInputTokens, inputTokens)
  return { read, written: Math.min(cacheWriteTokens, inputTokens - read) }
}

function split(model: string): { providerId?: string; modelId: string } {
  const slash = model.indexOf('/')
  return slash < 0 ? { modelId: model } : { providerId: model.slice(0, slash), modelId: model.slice(slash + 1) }
}

function own(prices: Readonly<Record<string, Price>>, key: string): Price | undefined {
  return Object.hasOwn(prices, key) ? prices[key] : undefined
}
