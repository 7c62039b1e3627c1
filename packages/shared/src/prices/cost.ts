import type { Usage } from '@allium/core'

/** USD per million tokens. */
export interface Price {
  input: number
  output: number
  /** Input tokens read from the provider's cache. @default input */
  cachedInput?: number
  /** Input tokens written to the provider's cache. @default input */
  cacheWrite?: number
  /** Input tokens written to the provider's cache for an hour. @default twice the input, as Anthropic and Bedrock charge it */
  cacheWriteHour?: number
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
  cacheWriteHour?: Rate
  /** USD per call, in addition to its tokens. */
  perCall?: number
}

/** USD per million tokens. With tiers, another price applies to the whole call when its input exceeds `start` tokens. */
type Rate = number | { base: number; tiers: readonly { start: number; price: number }[] }

export function costOfRates(
  { input, output, cachedInput = input, cacheWrite = input, cacheWriteHour, perCall = 0 }: Rates,
  usage: Usage,
): number {
  const { fresh, read, written, writtenForHour } = inputOf(usage)
  const costOf = (tokens: number, rate: Rate) => tokens * rateOf(rate, usage.inputTokens)
  const microUsd =
    costOf(fresh, input) +
    costOf(read, cachedInput) +
    costOf(written, cacheWrite) +
    (cacheWriteHour === undefined ? 2 * costOf(writtenForHour, input) : costOf(writtenForHour, cacheWriteHour)) +
    costOf(usage.outputTokens, output)
  return microUsd / 1_000_000 + perCall * usage.calls
}

function rateOf(rate: Rate, inputTokens: number): number {
  if (typeof rate === 'number') return rate
  return rate.tiers.reduce((price, tier) => (inputTokens > tier.start ? tier.price : price), rate.base)
}

/** Splits the input; its parts never exceed the total. */
function inputOf({ inputTokens, cachedInputTokens = 0, cacheWriteTokens = 0, cacheWriteHourTokens = 0 }: Usage) {
  const read = Math.min(cachedInputTokens, inputTokens)
  const allWritten = Math.min(cacheWriteTokens, inputTokens - read)
  const writtenForHour = Math.min(cacheWriteHourTokens, allWritten)
  return { fresh: inputTokens - read - allWritten, read, written: allWritten - writtenForHour, writtenForHour }
}
