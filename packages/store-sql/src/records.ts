import { isAlliumError, type OutboxRecord } from '@allium/core'
import type { Blobs } from './blobs/blobs.ts'
import { type SqlRow, toBytes } from './sql-row.ts'
import { recordFromRow } from './turn-row.ts'

export interface OutboxOptions {
  /** Who takes records: one that all of them have done goes. @default none: records go after `keepRecords` */
  consumers?: readonly string[] | undefined
  /** Milliseconds that a record stays at most. @default 30 days */
  keepRecords?: number | undefined
}

/** Milliseconds that a record stays at most, unless options say it. */
export const month = 30 * 24 * 60 * 60 * 1000

/** Milliseconds that a record waits at most for its next try after it could not be opened. */
export const maxPostponement = 3_600_000

/**
 * Opens the records that were taken. One that cannot be opened is left out and never counts as done, whatever the reason: its key may come
 * back. It is tried again after half of its age, at most an hour later, so that it does not hold up the records behind it.
 *
 * @param postpone moves the next try of these records
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
