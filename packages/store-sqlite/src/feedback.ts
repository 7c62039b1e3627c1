import type { FeedbackStore } from '@allium/store'
import { checkFeedback, checkFeedbackKey, checkRuns } from '@allium/store/feedback'
import { runKeyParts } from '@allium/store-sql'
import {
  feedbackColumns,
  feedbackFromRow,
  feedbackFromRows,
  feedbackPage,
  feedbackParams,
  feedbackSummary,
  replaceFeedback,
} from '@allium/store-sql/feedback'
import type { StoreParts } from './store-parts.ts'

/** Feedback on runs in a SQLite file. `sqlite()` loads this with the first use of its `feedback`. */
export function sqliteFeedback({ db, sealer, writers }: StoreParts): FeedbackStore {
  return {
    sealed: sealer.encrypts,
    async put(feedback, writer) {
      const checked = checkFeedback(feedback)
      const params = await feedbackParams(sealer, checked)
      await db.writeInGroup(() => {
        const { key } = checked.run
        // The person may be another user of the tenant, whose data may have been erased meanwhile, too.
        writers.token({ ...key, owner: checked.by }, writer)
        db.run(putFeedback, ...params, writers.token(key, writer))
      })
    },
    async get(of) {
      const { run, by } = checkFeedbackKey(of)
      const row = db.get(`select * from feedback where ${ofPerson}`, ...runKeyParts(run), by)
      return row && feedbackFromRow(sealer, row)
    },
    async delete(of) {
      const { run, by } = checkFeedbackKey(of)
      const deleted = await db.writeInGroup(() =>
        db.run(`delete from feedback where ${ofPerson}`, ...runKeyParts(run), by),
      )
      return deleted > 0
    },
    list: (query) => feedbackPage(query, dialect, sealer, (...read) => db.all(...read)),
    async ofRuns(runs) {
      const rows = checkRuns(runs).flatMap((run) =>
        db.all(`select * from feedback where ${ofRun} order by at, n`, ...runKeyParts(run)),
      )
      return feedbackFromRows(sealer, rows)
    },
    summary: (of) => feedbackSummary(of, dialect, (...read) => db.all(...read)),
  }
}

const dialect = { table: 'feedback', param: (number: number) => `?${number}` }

const putFeedback = `insert into feedback (${feedbackColumns}, token) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${replaceFeedback}`

const ofRun = 'tenant = ? and owner = ? and agent = ? and session = ? and turn_id = ?'
const ofPerson = `${ofRun} and author = ?`
