import type { Outbox } from '@allium/core'
import { checkName, month, type OutboxOptions, openedRecords, type Sealer } from '@allium/store-sql'
import type { Database } from './database.ts'

/** What turns have recorded. */
export function postgresOutbox(
  db: Database,
  sealer: Sealer,
  { consumers = [], keepRecords = month }: OutboxOptions,
): Outbox {
  const done = async (consumer: string, ids: readonly string[]) => {
    const sql = `select ${db.s}.records_done($1, $2, $3)`
    await db.repeatable(sql, checkName('consumer', consumer), ids, consumers)
  }
  return {
    async take(consumer, limit, ms) {
      const sql = `select * from ${db.s}.take_records($1, $2, $3, $4)`
      const rows = await db.once(sql, checkName('consumer', consumer), limit, ms, keepRecords)
      return openedRecords(rows, sealer, (id) => done(consumer, [id]))
    },
    done,
  }
}
