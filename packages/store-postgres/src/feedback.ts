import type { FeedbackKey, FeedbackStore, RunKey } from '@allium/store'
import { checkFeedback, checkFeedbackKey, checkRuns } from '@allium/store/feedback'
import { erasedDuringRun, runKeyParts, type Sealer } from '@allium/store-sql'
import {
  feedbackColumns,
  feedbackFromRow,
  feedbackFromRows,
  feedbackPage,
  feedbackParams,
  feedbackSummary,
  replaceFeedback,
} from '@allium/store-sql/feedback'
import { checkCombinedLength } from './database/combined-length.ts'
import type { Database } from './database/database.ts'
import { writerSince } from './lease/leases.ts'

/** Feedback on runs in Postgres. `postgres()` loads this with the first use of its `feedback`. */
export function postgresFeedback(db: Database, sealer: Sealer): FeedbackStore {
  const table = `${db.s}.feedback`
  const dialect = { table, param: (number: number) => `$${number}` }
  /**
   * One statement, which holds the lock of the writer until the feedback is stored. The person may be another user of the tenant, whose data
   * may have been erased meanwhile, too.
   */
  const put = `with writer as materialized (select least(author, owner) as token from (select
      ${db.s}.writer_token($1, $6, $3, $4, $10, $11) as author, ${db.s}.writer_token($1, $2, $3, $4, $10, $11) as owner) tokens
      where author is not null and owner is not null),
    stored as (insert into ${table} (${feedbackColumns}, token)
      select $1, $2, $3, $4, $5::text, $6::text, $7::float8, $8::float8, $9::bytea, token from writer ${replaceFeedback})
    select token from writer`
  return {
    sealed: sealer.encrypts,
    async put(feedback, writer) {
      const checked = checkFeedback(feedback)
      checkLength(checked)
      const params = await feedbackParams(sealer, checked)
      const [row] = await db.queryIdempotent(put, ...params, ...(await writerSince(db, writer)))
      if (row === undefined) throw erasedDuringRun()
    },
    async get(of) {
      const { run, by } = checkFeedbackKey(of)
      const [row] = await db.queryIdempotent(`select * from ${table} where ${ofPerson}`, ...runKeyParts(run), by)
      return row && feedbackFromRow(sealer, row)
    },
    async delete(of) {
      const { run, by } = checkFeedbackKey(of)
      const sql = `delete from ${table} where ${ofPerson} returning n`
      return (await db.queryOnce(sql, ...runKeyParts(run), by)).length > 0
    },
    list: (query) => feedbackPage(query, dialect, sealer, (sql, ...values) => db.queryIdempotent(sql, ...values)),
    async ofRuns(runs) {
      const rows = await db.queryIdempotent(
        `select f.* from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
         with ordinality as r (tenant, owner, agent, session, turn_id, place)
         join ${table} f using (tenant, owner, agent, session, turn_id) order by r.place, f.at, f.n`,
        ...columnsOf(checkRuns(runs)),
      )
      return feedbackFromRows(sealer, rows)
    },
    summary: (of) => feedbackSummary(of, dialect, (sql, ...values) => db.queryIdempotent(sql, ...values)),
  }
}

const ofPerson = 'tenant = $1 and owner = $2 and agent = $3 and session = $4 and turn_id = $5 and author = $6'

/** The keys of runs, as a list for each column. */
function columnsOf(runs: readonly RunKey[]): string[][] {
  const rows = runs.map((run) => runKeyParts(run))
  return [0, 1, 2, 3, 4].map((column) => rows.map((row) => String(row[column])))
}

function checkLength({ run, by }: FeedbackKey): void {
  checkCombinedLength('tenant, owner, agent, session id, id of the run and person', [...runKeyParts(run), by])
}
