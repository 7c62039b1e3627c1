import type { Page } from '../session-store.ts'

type Rank = readonly [number, string]

/** The items behind a cursor, in the order of their ranks, which no two share. */
export function pageOf<T>(
  items: readonly T[],
  rankOf: (item: T) => Rank,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Page<T> {
  const after = cursor === undefined ? undefined : (JSON.parse(cursor) as Rank)
  const sorted = items.toSorted((a, b) => compare(rankOf(a), rankOf(b)))
  const rest = after === undefined ? sorted : sorted.filter((item) => compare(rankOf(item), after) > 0)
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  const hasMore = last !== undefined && rest.length > page.length
  return { items: page, ...(hasMore && { cursor: JSON.stringify(rankOf(last)) }) }
}

function compare(a: Rank, b: Rank): number {
  if (a[0] !== b[0]) return a[0] - b[0]
  return a[1] < b[1] ? -1 : Number(a[1] > b[1])
}
