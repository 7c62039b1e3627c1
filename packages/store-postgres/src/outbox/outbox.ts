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
      const sql = `select * from ${db.s}.take_outbox($1, $2, $3, $4)`
      const rows = await db.queryOnce(sql, checkName('consumer', consumer), limit, ms, recordRetention)
      return openRecords(rows, blobs, async (ids) => {
        await db.queryIdempotent(`select ${db.s}.postpone_records($1, $2, $3, $4)`, consumer, ids, ms, maxPostponement)
      })
    },
    async done(consumer, ids) {
      checkName('consumer', consumer)
      for (const id of ids) checkName('id of a record', id)
      await db.queryIdempotent(`select ${db.s}.records_done($1, $2, $3)`, consumer, ids, consumers)
    },
  }
}
