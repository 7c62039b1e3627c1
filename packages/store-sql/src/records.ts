import { isAlliumError } from '@allium/core'
import type { OutboxRecord } from '@allium/store'
import type { Blobs } from './blobs/blobs.ts'
import { type SqlRow, toBytes } from './sql-row.ts'
import { recordFromRow } from './turn-row.ts'

export interface OutboxOptions {
  /**
   * The consumers of records. A record is deleted when all of them have processed it. @default none: records are deleted after
   * `recordRetention`
   */
  consumers?: readonly string[] | undefined
  /** The maximum age of a record in milliseconds. @default 30 days */
  recordRetention?: number | undefined
}

/** The default maximum age of a record, in milliseconds. */
export const month = 30 * 24 * 60 * 60 * 1000

/** The maximum delay before another attempt to open a record, in milliseconds. */
export const maxPostponement = 3_600_000

/**
 * Opens the claimed records. A record that cannot be opened is left out and never counts as processed, because its key may come
 * back. It is retried after half of its age, an hour at most, so that it does not delay the records after it.
 *
 * @param postpone delays the next attempt for these records
 * @throws AlliumError `store.unavailable` or `store.corrupt` when none of the records could be opened for that reason
 */
export async function openRecords(
  rows: readonly SqlRow[],
  blobs: Blobs,
  postpone: (ids: readonly string[]) => void | Promise<void>,
): Promise<OutboxRecord[]> {
  const records: OutboxRecord[] = []
  const unreadable: string[] = []
  let failure: unknown
  for (const { id, tenant, owner, turn_id, body } of rows)
    try {
      const row = { id: String(id), turnId: String(turn_id), body: toBytes(body) }
      records.push(await recordFromRow({ tenant: String(tenant), owner: String(owner) }, row, blobs))
    } catch (error) {
      unreadable.push(String(id))
      if (!isAlliumError(error, 'store.sealed')) failure ??= error
    }
  if (unreadable.length > 0) await postpone(unreadable)
  if (failure !== undefined && records.length === 0) throw failure
  return records
}
