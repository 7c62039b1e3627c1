import type { Outbox } from '@allium/core'
import { type Blobs, checkName, longestPostponement, month, type OutboxOptions, openedRecords } from '@allium/store-sql'
import type { Database } from './database.ts'

/** What turns have recorded. */
export function postgresOutbox(
  db: Database,
  blobs: Blobs,
  { consumers = [], keepRecords = month }: OutboxOptions,
): Outbox {
  return {
    async take(consumer, limit, ms) {
      const sql = `select * from ${db.s}.take_outbox($1, $2, $3, $4)`
      const rows = await db.once(sql, checkName('consumer', consumer), limit, ms, keepRecords)
      return openedRecords(rows, blobs, async (ids) => {
        await db.repeatable(`select ${db.s}.postpone_records($1, $2, $3, $4)`, consumer, ids, ms, longestPostponement)
      })
    },
    async done(consumer, ids) {
      checkName('consumer', consumer)
      for (const id of ids) checkName('id of a record', id)
      await db.repeatable(`select ${db.s}.records_done($1, $2, $3)`, consumer, ids, consumers)
    },
  }
}
