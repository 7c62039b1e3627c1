import { AlliumError } from '@allium/core'
import { describe } from '@allium/core/internal'
import type { Page } from '../session-store.ts'

type Rank = readonly [number, string]

/**
 * Returns the items after a cursor, in the order of their ranks, which are unique.
 *
 * @throws AlliumError `store.key` for an invalid cursor
 */
export function pageOf<T>(
  items: readonly T[],
  rankOf: (item: T) => Rank,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Page<T> {
  const after = cursor === undefined ? undefined : rankIn(cursor)
  const sorted = items.toSorted((a, b) => compare(rankOf(a), rankOf(b)))
  const rest = after === undefined ? sorted : sorted.filter((item) => compare(rankOf(item), after) > 0)
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  const hasMore = last !== undefined && rest.length > page.length
  return { items: page, ...(hasMore && { cursor: JSON.stringify(rankOf(last)) }) }
}

function rankIn(cursor: string): Rank {
  let rank: unknown
  try {
    rank = JSON.parse(cursor)
  } catch {}
  if (Array.isArray(rank) && typeof rank[0] === 'number' && typeof rank[1] === 'string') return [rank[0], rank[1]]
  throw new AlliumError(
    'store.key',
    `Invalid cursor ${describe(cursor)}. Pass the cursor of the previous page unchanged, or omit it to start.`,
  )
}

function compare(a: Rank, b: Rank): number {
  if (a[0] !== b[0]) return a[0] - b[0]
  return a[1] < b[1] ? -1 : Number(a[1] > b[1])
}

/** Returns a text that sorts as the number does, from -1e15 to 1e15. */
export function sortable(n: number): string {
  return String(n + 1e15)
}
