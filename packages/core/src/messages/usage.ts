/** Token and call counts. */
export interface Usage {
  inputTokens: number
  outputTokens: number
  /** Part of `inputTokens` that was read from the provider's cache. */
  cachedInputTokens?: number
  /** Part of `inputTokens` that was written to the provider's cache. */
  cacheWriteTokens?: number
  /** Part of `cacheWriteTokens` that the provider keeps for an hour, at a higher price. */
  cacheWriteHourTokens?: number
  /** Part of `outputTokens` that was spent on reasoning. */
  reasoningTokens?: number
  /** What the provider itself charges, in USD. Absent if no call reported it. */
  reportedCost?: number
  /** Physical calls to a provider, including retries, counted by the core. */
  calls: number
  /**
   * Set if a part is estimated: the stream of a call was cut off after its first chunk, or its provider sent no count. A call that
   * failed before its first chunk has no tokens, and is not an estimate.
   */
  estimated?: true
}

const optionalCounts = ['cachedInputTokens', 'cacheWriteTokens', 'cacheWriteHourTokens', 'reasoningTokens'] as const

/** Returns a usage with every count 0, to add to. */
export function noUsage(): Usage {
  return { inputTokens: 0, outputTokens: 0, calls: 0 }
}

/** Normalizes a provider's usage to non-negative safe integers, so that no sum is infinite. A missing or invalid count becomes 0. */
export function cleanUsage(given: Partial<Usage> = {}, calls: number): Usage {
  const usage: Usage = { inputTokens: count(given.inputTokens), outputTokens: count(given.outputTokens), calls }
  for (const name of optionalCounts) if (given[name] !== undefined) usage[name] = count(given[name])
  const cost = given.reportedCost
  if (cost !== undefined && cost >= 0 && Number.isFinite(cost)) usage.reportedCost = cost
  if (given.estimated === true) usage.estimated = true
  return usage
}

/** Adds `more` to `total` in place. */
export function addUsage(total: Usage, more: Readonly<Usage>): void {
  total.inputTokens += more.inputTokens
  total.outputTokens += more.outputTokens
  total.calls += more.calls
  for (const name of [...optionalCounts, 'reportedCost'] as const)
    if (more[name] !== undefined) total[name] = (total[name] ?? 0) + more[name]
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
