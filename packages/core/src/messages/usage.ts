/** Token and call counts. */
export interface Usage {
  inputTokens: number
  outputTokens: number
  /** Part of `inputTokens` that was read from the provider's cache. */
  cachedInputTokens?: number
  /** Part of `inputTokens` that was written to the provider's cache. */
  cacheWriteTokens?: number
  /** Part of `outputTokens` that was spent on reasoning. */
  reasoningTokens?: number
  /** Physical calls to a provider, including retries, counted by the core. */
  calls: number
  /**
   * Set if a part is estimated: the stream of a call was cut off after its first chunk, or its provider sent no count. A call that
   * failed before its first chunk has no tokens, and is not an estimate.
   */
  estimated?: true
}

/** Returns a usage with every count 0, to add to. */
export function noUsage(): Usage {
  return { inputTokens: 0, outputTokens: 0, calls: 0 }
}

/** Normalizes a provider's usage to non-negative safe integers, so that no sum is infinite. A missing or invalid count becomes 0. */
export function cleanUsage(given: Partial<Usage> | undefined, calls: number): Usage {
  const usage: Usage = { inputTokens: count(given?.inputTokens), outputTokens: count(given?.outputTokens), calls }
  if (given?.cachedInputTokens !== undefined) usage.cachedInputTokens = count(given.cachedInputTokens)
  if (given?.cacheWriteTokens !== undefined) usage.cacheWriteTokens = count(given.cacheWriteTokens)
  if (given?.reasoningTokens !== undefined) usage.reasoningTokens = count(given.reasoningTokens)
  if (given?.estimated === true) usage.estimated = true
  return usage
}

/** Adds `more` to `total` in place. */
export function addUsage(total: Usage, more: Readonly<Usage>): void {
  total.inputTokens += more.inputTokens
  total.outputTokens += more.outputTokens
  total.calls += more.calls
  if (more.cachedInputTokens !== undefined)
    total.cachedInputTokens = (total.cachedInputTokens ?? 0) + more.cachedInputTokens
  if (more.cacheWriteTokens !== undefined)
    total.cacheWriteTokens = (total.cacheWriteTokens ?? 0) + more.cacheWriteTokens
  if (more.reasoningTokens !== undefined) total.reasoningTokens = (total.reasoningTokens ?? 0) + more.reasoningTokens
  if (more.estimated === true) total.estimated = true
}

/** Returns the total usage of several calls, such as `physicalCallsOf(ctx)`. */
export function usageOf(calls: readonly { readonly usage: Readonly<Usage> }[]): Usage {
  const total = noUsage()
  for (const { usage } of calls) addUsage(total, usage)
  return total
}

function count(value: unknown): number {
  const whole = Number.isFinite(value) ? Math.floor(value as number) : 0
  return Math.min(Math.max(whole, 0), Number.MAX_SAFE_INTEGER)
}
