import { drawSums } from './draw-sums.ts'

/** The distribution of the mean that Gaffke's bounds are quantiles of. */
export interface MeanBounds {
  /** Returns the one-sided lower bound: with probability `1 - alpha`, the true mean is above it. */
  lower(alpha: number): number
  /** Returns the one-sided upper bound. */
  upper(alpha: number): number
  /** Returns the p-value of "the mean is at most `value`". It is at most `alpha` exactly if `lower(alpha)` is above `value`. */
  pOfAtMost(value: number): number
  /** Returns the p-value of "the mean is at least `value`". It is at most `alpha` exactly if `upper(alpha)` is below `value`. */
  pOfAtLeast(value: number): number
}

/** Bounds the mean of bounded values, one value per independent unit. There must be at least one. */
export type BoundMean = (values: readonly number[]) => MeanBounds

export interface GaffkeOptions {
  /** The smallest possible value. @default 0 */
  low?: number
  /** The largest possible value. @default 1 */
  high?: number
  /** Monte Carlo draws. @default 20,000 */
  draws?: number
  /** @default 1 */
  seed?: number
}

/**
 * Creates Gaffke's bounds of a mean. They assume nothing about the distribution of the values besides its range.
 *
 * A draw weighs the n values and one extreme value with the n + 1 gaps between n uniform numbers. The upper bound is a
 * quantile of the draws with the largest possible value as the extreme one, and the lower bound with the smallest. For
 * values of 0 and 1 this is the interval of Clopper and Pearson. The coverage is conjectured and holds in all known
 * simulations: N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
 * variable", Math. Methods of Statistics 14 (2005); E. Learned-Miller and P. Thomas, "A new confidence interval for the
 * mean of a bounded random variable", arXiv:1905.06208.
 *
 * The draws have a fixed seed and are shared by all calls. The order of the values does not matter.
 */
export function gaffke({ low = 0, high = 1, draws = 20_000, seed = 1 }: GaffkeOptions = {}): BoundMean {
  const sumsOfUnits = drawSums(draws, seed)
  return (values) => {
    const sorted = [...values].sort((a, b) => a - b)
    const nextSums = sumsOfUnits()
    // Summation by parts: equal values need no work.
    const weighted = new Float64Array(draws)
    let last = sorted[0] as number
    for (const value of sorted.slice(1)) {
      addScaled(weighted, nextSums(), last - value)
      last = value
    }
    const ofValues = nextSums().slice()
    return meanBounds({ weighted, last, ofValues, total: nextSums().slice() }, low, high)
  }
}

function addScaled(to: Float64Array, from: Float64Array, by: number): void {
  if (by === 0) return
  for (let d = 0; d < to.length; d++) to[d] = (to[d] as number) + by * (from[d] as number)
}

/** The draws without their extreme value. With the extreme value e, draw d is `e + (weighted[d] + (last - e) * ofValues[d]) / total[d]`. */
interface Draws {
  readonly weighted: Float64Array
  /** The largest of the values. */
  readonly last: number
  readonly ofValues: Float64Array
  readonly total: Float64Array
}

function meanBounds(draws: Draws, low: number, high: number): MeanBounds {
  const { length } = draws.total
  /** The number of draws beyond a quantile. */
  const beyond = (alpha: number) => Math.max(0, Math.floor(alpha * (length + 1)) - 1)
  return {
    lower: (alpha) => sortedDraws(draws, low)[beyond(alpha)] as number,
    upper: (alpha) => sortedDraws(draws, high)[length - 1 - beyond(alpha)] as number,
    pOfAtMost: (value) => {
      const { below, equal } = countBelow(draws, low, value)
      return (1 + below + equal) / (length + 1)
    },
    pOfAtLeast: (value) => (1 + length - countBelow(draws, high, value).below) / (length + 1),
  }
}

function sortedDraws({ weighted, last, ofValues, total }: Draws, extreme: number): Float64Array {
  return weighted
    .map((sum, d) => extreme + (sum + (last - extreme) * (ofValues[d] as number)) / (total[d] as number))
    .sort()
}

/** Counts the draws below a value, and returns also how many are equal. Verdicts need only this, which is much faster than sorting. */
function countBelow({ weighted, last, ofValues, total }: Draws, extreme: number, value: number) {
  const [ofLast, ofTotal] = [last - extreme, extreme - value]
  let [below, equal] = [0, 0]
  for (let d = 0; d < weighted.length; d++) {
    const distance = (weighted[d] as number) + ofLast * (ofValues[d] as number) + ofTotal * (total[d] as number)
    if (distance < 0) below++
    else if (distance === 0) equal++
  }
  return { below, equal }
}
