/**
 * Joins lists of a search into one. Each keeps its order, and each has its share of every part of the result. Scores of different owners
 * or searches cannot be compared.
 *
 * @param limit the maximum length of the result
 */
export function joinByShare<T>(lists: readonly (readonly T[])[], limit: number): T[] {
  return lists
    .flatMap((list) => list.map((one, i) => ({ one, share: (i + 0.5) / list.length })))
    .sort((a, b) => a.share - b.share)
    .slice(0, limit)
    .map(({ one }) => one)
}
