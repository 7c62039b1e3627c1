/**
 * Returns which hypotheses are rejected so that the probability of any false rejection is at most `alpha`, by S. Holm, "A simple
 * sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
 */
export function holm(pValues: readonly number[], alpha: number): boolean[] {
  const rejected = pValues.map(() => false)
  const smallestFirst = pValues.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p)
  for (const [rank, { p, index }] of smallestFirst.entries()) {
    if (p > alpha / (pValues.length - rank)) break
    rejected[index] = true
  }
  return rejected
}
