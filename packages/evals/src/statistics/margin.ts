/** Returns the margin that n units without any loss can just not pass. */
export function smallestLimit(units: number, alpha = 0.05): number {
  return 1 - alpha ** (1 / units)
}

/** Returns how many units without any loss can pass a margin. Infinity for a margin of 0. */
export function casesNeeded(margin: number, alpha = 0.05): number {
  return margin <= 0 ? Number.POSITIVE_INFINITY : Math.floor(Math.log(alpha) / Math.log(1 - margin)) + 1
}
