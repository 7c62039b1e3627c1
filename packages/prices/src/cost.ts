import type { Usage } from '@allium/core'

/** USD for a million tokens. */
export interface Price {
  input: number
  output: number
  /** Input that the provider read from its cache. @default input */
  cachedInput?: number
  /** Input that the provider wrote to its cache. @default input */
  cacheWrite?: number
}

/** USD at a given price. Cached tokens are part of the input tokens. */
export function costAt(price: Price, usage: Usage): number {
  return costOfRates(price, usage)
}

/** A price as the public list tells it. */
export interface Rates {
  input: Rate
  output: Rate
  cachedInput?: Rate
  cacheWrite?: Rate
  /** USD for each call, beside its tokens. */
  perCall?: number
}

/** USD for a million tokens; another one for the whole call where its input passes `start` tokens. */
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

/** The parts of the input, which never come to more than the whole. */
function inputOf({ inputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 }: Usage) {
  const read = Math.min(cachedInputTokens, inputTokens)
  const written = Math.min(cacheWriteTokens, inputTokens - read)
  return { fresh: inputTokens - read - written, read, written }
}
