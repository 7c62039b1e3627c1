import { seededRandom } from './random.ts'

/** How many units keep their draws in memory, 160 kB each. Those of further units are generated again at each call. */
const keptUnits = 128

/**
 * Creates exponential variates for Monte Carlo draws. Divided by their total, those of n + 1 units are the gaps between n uniform
 * numbers. The returned function starts at the first unit. Each call of its result adds one unit, and returns the sum of the variates so
 * far, per draw. Do not change these sums, and use them before the next call.
 */
export function drawSums(draws: number, seed: number): () => () => Float64Array {
  const kept: Float64Array<ArrayBuffer>[] = []
  return () => {
    let unit = 0
    let sums = new Float64Array(draws)
    return () => {
      const known = kept[unit]
      if (known === undefined) {
        if (unit <= keptUnits) sums = sums.slice()
        addVariates(sums, seed * 1_000_003 + unit)
        if (unit < keptUnits) kept[unit] = sums
      } else sums = known
      unit++
      return sums
    }
  }
}

function addVariates(sums: Float64Array, seed: number): void {
  const random = seededRandom(seed)
  for (let d = 0; d < sums.length; d++) sums[d] = (sums[d] as number) - Math.log1p(-random())
}
