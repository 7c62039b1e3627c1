import type { Usage } from '@allium/core'

/** USD per million tokens. */
export interface Price {
  input: number
  output: number
  /** Input tokens read from the provider's cache. @default input */
  cachedInput?: number
  /** Input tokens written to the provider's cache. @default input */
  cacheWrite?: number
}

/** Returns the cost in USD at a price. Cached tokens are part of the input tokens. */
export function costAt(price: Price, usage: Usage): number {
  return costOfRates(price, usage)
}

/** A price in the form of the public list. */
export interface Rates {
  input: Rate
  output: Rate
  cachedInput?: Rate
  cacheWrite?: Rate
  /** USD per call, in addition to its tokens. */
  perCall?: number
}

/** USD per million tokens. With tiers, another price applies to the whole call when its input exceeds `start` tokens. */
type Rate = number | { base: number; tiers: readonly { start: number; price: number }[] }

export function costOfRates(
  { input, output, cachedInput = input, cacheWrite = input, perCall = 0 }: Rates,
  usage: Usage,
): number {
  const { fresh, read, written } = inputOf(usage)
  const at = (tokens: number, rate: Rate) => tokens * rateOf(rate, usage.inputTokens)
  const tokens = at(fresh, input) + at(read, cachedInput) + at(written, cacheWrite) + at(usage.outputTokens, output)
  return tokens / 1_000_000 + perCall * usage.calls
}

function rateOf(rate: Rate, inputTokens: number): number {
  if (typeof rate === 'number') return rate
  return rate.tiers.reduce((price, tier) => (inputTokens > tier.start ? tier.price : price), rate.base)
}

/** Splits the input; its parts never exceed the total. */
function inputOf({ inputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 }: Usage) {
  const read = Math.min(cachedInputTokens, inputTokens)
  const written = Math.min(cacheWriteTokens, inputTokens - read)
  return { fresh: inputTokens - read - written, read, written }
}
