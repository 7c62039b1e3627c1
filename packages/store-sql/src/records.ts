import { isAlliumError, type OutboxRecord } from '@allium/core'
import type { Sealer } from './sealer.ts'
import { bytesOf, type SqlRow } from './sql-row.ts'
import { recordOf } from './turn-row.ts'

export interface OutboxOptions {
  /** Who takes records: one that all of them have done goes. @default none: records go after `keepRecords` */
  consumers?: readonly string[] | undefined
  /** Milliseconds that a record stays at most. @default 30 days */
  keepRecords?: number | undefined
}

/** Milliseconds that a record stays at most, unless options say it. */
export const month = 30 * 24 * 60 * 60 * 1000

/**
 * Records as they were taken. One that cannot be opened any more, since the key of its tenant is gone, is done; one that does
 * not parse comes again, and is an error only where it stands alone: neither holds up the others.
 *
 * @throws AlliumError `store.corrupt`
 */
export async function openedRecords(
  rows: readonly SqlRow[],
  sealer: Sealer,
  done: (id: string) => void | Promise<void>,
): Promise<OutboxRecord[]> {
  const records: OutboxRecord[] = []
  let corrupt: unknown
  for (const { id, tenant, turn_id, body } of rows)
    try {
      const row = { id: String(id), turnId: String(turn_id), body: bytesOf(body) }
      records.push(await recordOf(String(tenant), row, sealer))
    } catch (error) {
      if (isAlliumError(error, 'store.sealed')) await done(String(id))
      else if (isAlliumError(error, 'store.corrupt')) corrupt = error
      else throw error
    }
  if (corrupt !== undefined && records.length === 0) throw corrupt
  return records
}
