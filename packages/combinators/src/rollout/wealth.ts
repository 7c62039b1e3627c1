import { binCount, type ScoreCounts } from './score-counts.ts'

/** Small bets find small differences, large ones find large differences after few users. */
const bets = Array.from({ length: 8 }, (_, bet) => 0.03 * 20 ** (bet / 7))

/** Means are looked at in steps of 1/1024. */
export const steps = 1024

/** What each bet gains with each score, as a logarithm: `gains[bin * bets.length + bet]`. */
type Gains = Float64Array

/** Returns the logarithm of what bets against a claim have made of 1. While the claim is true, it passes log(1 / alpha) with a probability of at most alpha. */
export type Wealth = (counts: ScoreCounts, step: number) => number

/** Against "the mean is at most `step / steps + offset`". The larger the mean, the less it gains. */
export function againstAtMost(offset: number): Wealth {
  return wealthOf((step, bet, score) => 1 - bet + (bet * score) / Math.max(step / steps + offset, tiny))
}

/** Against "the mean is at least `step / steps + offset`". The larger the mean, the more it gains. */
export function againstAtLeast(offset: number): Wealth {
  const below = againstAtMost(-offset)
  return (counts, step) => below(counts.toReversed(), steps - step)
}

/** A claim about a mean below 0 is replaced with one about this mean, which follows from it. */
const tiny = 1e-9

function wealthOf(gain: (step: number, bet: number, score: number) => number): Wealth {
  const known = new Map<number, Gains>()
  const sums = new Float64Array(bets.length)
  return (counts, step) => {
    let gains = known.get(step)
    if (gains === undefined) known.set(step, (gains = gainsAt(step)))
    sums.fill(0)
    for (let bin = 0; bin < binCount; bin++) {
      const count = counts[bin] as number
      if (count === 0) continue
      for (let bet = 0; bet < bets.length; bet++)
        sums[bet] = (sums[bet] as number) + count * (gains[bin * bets.length + bet] as number)
    }
    return logOfMean(sums)
  }

  function gainsAt(step: number): Gains {
    const score = (bin: number) => bin / (binCount - 1)
    return Float64Array.from({ length: binCount * bets.length }, (_, i) =>
      Math.log(gain(step, bets[i % bets.length] as number, score(Math.floor(i / bets.length)))),
    )
  }
}

/** Of values given as logarithms. */
function logOfMean(logs: Float64Array): number {
  const most = Math.max(...logs)
  let sum = 0
  for (const log of logs) sum += Math.exp(log - most)
  return most + Math.log(sum / logs.length)
}
