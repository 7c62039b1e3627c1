import type { Outbox } from '@allium/store'
import { type Blobs, checkName, maxPostponement, month, type OutboxOptions, openRecords } from '@allium/store-sql'
import type { Database } from '../database/database.ts'

/** The records of turns. */
export function postgresOutbox(
  db: Database,
  blobs: Blobs,
  { consumers = [], recordRetention = month }: OutboxOptions,
): Outbox {
  return {
    async claim(consumer, limit, ms) {
      const rows = await db.rowsOnce('take_outbox', checkName('consumer', consumer), limit, ms, recordRetention)
      return openRecords(rows, blobs, async (ids) => {
        await db.call('postpone_records', consumer, ids, ms, maxPostponement)
      })
    },
    async done(consumer, ids) {
      checkName('consumer', consumer)
      for (const id of ids) checkName('id of a record', id)
      await db.call('records_done', consumer, ids, consumers)
    },
  }
}
