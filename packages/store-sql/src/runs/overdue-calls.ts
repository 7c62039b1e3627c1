import { isAlliumError } from '@allium/core'
import type { ExpiredCalls, RunningAgent } from '@allium/store'
import type { Blobs } from '../blobs/blobs.ts'
import type { SqlRow } from '../sql-row.ts'
import { openRun } from './run-row.ts'

/** Most pages that one call reads while their runs cannot be opened. */
const maxPages = 20

/**
 * Returns the calls of the runs that can be opened. The others are retried later, and delay none of them. One call reads at most 20 pages:
 * the next one continues behind them, so that any number of runs whose keys are lost cannot keep later runs from being found.
 *
 * @param of.scans where the next call continues, by the names of the agents; the store keeps it between calls
 * @param query returns at most `limit` rows after the row with the number `after`
 */
export async function openOverdueCalls(
  blobs: Blobs,
  { agents, limit, scans }: { agents: readonly RunningAgent[]; limit: number; scans: OverdueScans },
  query: (after: number) => Promise<readonly OverdueRow[]> | readonly OverdueRow[],
): Promise<ExpiredCalls[]> {
  const overdue: ExpiredCalls[] = []
  const names = JSON.stringify(agents.map(({ name }) => name))
  for (let page = 0; page < maxPages && overdue.length === 0; page++) {
    const rows = await query(scans.get(names) ?? 0)
    const opened = await Promise.all(rows.map((row) => openOverdue(blobs, row)))
    overdue.push(...opened.flat())
    scans.set(names, Number(rows.at(-1)?.row.n))
    if (rows.length === limit) continue
    scans.delete(names)
    break
  }
  return overdue
}

/** The number of the last run that was read, by the names of the agents. Without an entry, the next call begins with the oldest run. */
export type OverdueScans = Map<string, number>

interface OverdueRow {
  readonly row: SqlRow
  readonly callIds: readonly string[]
}

async function openOverdue(blobs: Blobs, { row, callIds }: OverdueRow): Promise<ExpiredCalls[]> {
  try {
    const run = await openRun(blobs, row)
    return run.unreadable === undefined ? [{ run, callIds }] : []
  } catch (error) {
    if (isAlliumError(error, 'store.unavailable')) return []
    throw error
  }
}
