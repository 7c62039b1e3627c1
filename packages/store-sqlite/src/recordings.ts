import type { RecordingStore } from '@allium/store'
import { checkRecordedRun, checkRecording } from '@allium/store/recordings'
import { runKeyParts } from '@allium/store-sql'
import {
  recordingColumns,
  recordingFromRow,
  recordingPage,
  recordingParams,
  replaceRecording,
  sizesFromRows,
  sizesOf,
} from '@allium/store-sql/recordings'
import type { StoreParts } from './store-parts.ts'

/** Recorded turns in a SQLite file. `sqlite()` loads this with the first use of its `recordings`. */
export function sqliteRecordings({ db, clock, sealer, writers }: StoreParts): RecordingStore {
  return {
    sealed: sealer.encrypts,
    async add(recording, by) {
      const checked = checkRecording(recording)
      const params = await recordingParams(sealer, checked)
      await db.writeUnsynced(() => {
        const token = writers.token(checked.key, by)
        db.run(deleteExpired, clock.now())
        db.run(putRecording, ...params, token)
      })
    },
    async get(run) {
      const checked = checkRecordedRun(run)
      return recordingFromRow(sealer, checked, db.get(getRecording, ...runKeyParts(checked), clock.now()))
    },
    list: (query) =>
      recordingPage(query, { table: 'recordings', now: clock.now(), param }, (...read) => db.all(...read)),
    sizes: async () => sizesFromRows(db.all(sizesOf('recordings'))),
    /** Runs in steps, so that timers and other writes run between them. */
    async prune() {
      let [deleted, batch] = [0, batchSize]
      while (batch === batchSize) {
        batch = await db.writeInGroup(() => db.run(deleteExpired, clock.now()))
        deleted += batch
      }
      return deleted
    },
  }
}

const param = (number: number) => `?${number}`

const putRecording = `insert into recordings (${recordingColumns}, token) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${replaceRecording}`

const getRecording = `select * from recordings
  where tenant = ? and owner = ? and agent = ? and session = ? and turn_id = ? and expires_at > ?`

/** Expired recordings per step. */
const batchSize = 100

const deleteExpired = `delete from recordings where n in (select n from recordings where expires_at <= ? limit ${batchSize})`
