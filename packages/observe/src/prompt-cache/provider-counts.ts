import type { Usage } from '@allium/core'
import type { CostOf } from '@allium/shared/prices'

/** Compares the estimate with the tokens that the provider has read from its cache. */
export function readsFromCache(
  { cachedInputTokens, inputTokens, estimated }: Readonly<Usage>,
  { prompt, fromToken, lostTokens }: { prompt: number; fromToken: number; lostTokens: number },
): { cachedTokens?: number; confirmed?: boolean } {
  if (cachedInputTokens === undefined || estimated === true) return {}
  // Half of the lost tokens is the tolerance of the estimate.
  const expected = (fromToken + lostTokens / 2) * (inputTokens / prompt)
  return { cachedTokens: cachedInputTokens, confirmed: cachedInputTokens <= expected }
}

/** Returns how much cheaper the call would have been with a share of its input read from the cache. */
export async function savedIfRead(
  costOf: CostOf,
  model: string,
  { reportedCost: _, ...usage }: Readonly<Usage>,
  share: number,
): Promise<number | undefined> {
  const { inputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage
  const read = Math.min(inputTokens - cachedInputTokens, Math.round(inputTokens * share))
  const asRead = {
    ...usage,
    cachedInputTokens: cachedInputTokens + read,
    cacheWriteTokens: Math.max(0, cacheWriteTokens - read),
  }
  const [cost, cheaper] = await Promise.all([costOf(model, usage), costOf(model, asRead)])
  return cost === undefined || cheaper === undefined ? undefined : Math.max(0, cost - cheaper)
}
