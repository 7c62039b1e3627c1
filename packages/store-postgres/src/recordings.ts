import type { RecordingStore } from '@allium/store'
import { checkRecordedRun, checkRecording } from '@allium/store/recordings'
import { erasedDuringRun, runKeyParts, type Sealer } from '@allium/store-sql'
import {
  recordingColumns,
  recordingFromRow,
  recordingPage,
  recordingParams,
  replaceRecording,
  sizesFromRows,
  sizesOf,
} from '@allium/store-sql/recordings'
import type { Database } from './database/database.ts'
import { checkRunKey } from './event/event-table.ts'
import { writerSince } from './lease/leases.ts'

/** Recorded turns in Postgres. `postgres()` loads this with the first use of its `recordings`. */
export function postgresRecordings(db: Database, sealer: Sealer): RecordingStore {
  const table = `${db.s}.recordings`
  const now = `(select ${db.s}.now_ms())`
  const deleteExpired = (condition: string) => `delete from ${table} where n = any (array(
    select n from ${table} where expires_at <= ${now} ${condition} order by expires_at limit 100 for update skip locked))`
  /** One statement, which holds the lock of the writer until the recording is stored. */
  const add = `with writer as materialized (select ${db.s}.writer_token($1, $2, $3, $4, $10, $11) as token),
    expired as (${deleteExpired('and turn_id <> $5')}),
    stored as (insert into ${table} (${recordingColumns}, token)
      select $1, $2, $3, $4, $5::text, $6::float8, $7::float8, $8::integer, $9::bytea, token from writer where token is not null
      ${replaceRecording})
    select token from writer`
  return {
    sealed: sealer.encrypts,
    async add(recording, by) {
      const checked = checkRecording(recording)
      checkRunKey(checked)
      const params = await recordingParams(sealer, checked)
      const [row] = await db.queryIdempotent(add, ...params, ...(await writerSince(db, by)))
      if (row?.token === null) throw erasedDuringRun()
    },
    async get(run) {
      const checked = checkRunKey(checkRecordedRun(run))
      const [row] = await db.queryIdempotent(
        `select * from ${table} where tenant = $1 and owner = $2 and agent = $3 and session = $4 and turn_id = $5
         and expires_at > ${now}`,
        ...runKeyParts(checked),
      )
      return recordingFromRow(sealer, checked, row)
    },
    list: (query) =>
      recordingPage(query, { table, now, param: (number) => `$${number}` }, (sql, ...values) =>
        db.queryIdempotent(sql, ...values),
      ),
    sizes: async () => sizesFromRows(await db.queryIdempotent(sizesOf(table))),
    /** Runs in steps, so that other statements run between them. */
    async prune() {
      for (let deleted = 0; ; ) {
        const rows = await db.queryIdempotent(`${deleteExpired('')} returning n`)
        if (rows.length === 0) return deleted
        deleted += rows.length
      }
    },
  }
}
