import type { Lease } from '@allium/core'
import type { ClaimedRun } from '@allium/store'
import type { Blobs } from '../blobs/blobs.ts'
import type { SqlRow } from '../sql-row.ts'
import { openRun } from './run-row.ts'

/** A claimed run with its row. */
export interface ClaimedRow {
  readonly row: SqlRow
  readonly lease: Lease
}

/** Most queries per claim while rows cannot be opened. */
const maxPages = 20

/**
 * Claims runs and opens their tasks. Runs that cannot be opened now are released in the end, as if they had not been claimed. Until then
 * it holds them, so that the next query finds later runs. A run whose task can never be opened is returned without it.
 *
 * @param of.ms the duration of the leases, in milliseconds
 * @param of.monotonic the clock of the store
 * @param query claims at most `limit` runs
 * @throws AlliumError `store.unavailable` when none of them can be opened now
 */
export async function openClaims(
  blobs: Blobs,
  { limit, ms, alone = false, monotonic }: { limit: number; ms: number; alone?: boolean; monotonic: () => number },
  query: (of: { limit: number; alone: boolean }) => readonly ClaimedRow[] | Promise<readonly ClaimedRow[]>,
  release: (lease: Lease, run: string) => void | Promise<void>,
): Promise<ClaimedRun[]> {
  const claimed: ClaimedRun[] = []
  const unopened: ClaimedRow[] = []
  let failure: unknown
  // The leases of the first runs must not expire meanwhile.
  const deadline = monotonic() + ms / 4
  for (let page = 0; page < maxPages && claimed.length < limit; page++) {
    const rows = await query({ limit: limit - claimed.length, alone: alone && claimed.length === 0 })
    const opened = await Promise.allSettled(
      rows.map(async ({ row, lease }) => ({ run: await openRun(blobs, row), lease })),
    )
    for (const [i, one] of opened.entries())
      if (one.status === 'fulfilled') claimed.push(one.value)
      else {
        failure = one.reason
        unopened.push(rows[i] as ClaimedRow)
      }
    if (opened.every(({ status }) => status === 'fulfilled') || monotonic() > deadline) break
  }
  for (const { row, lease } of unopened) await release(lease, String(row.run))
  if (failure !== undefined && claimed.length === 0) throw failure
  return claimed
}
