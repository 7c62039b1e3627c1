import type { LateParts } from '@allium/store'
import type { Blobs, Sealer } from '@allium/store-sql'
import type { Database } from './database/database.ts'
import { postgresFeedback } from './feedback.ts'
import { postgresPassages } from './passage/passages.ts'
import { postgresRecordings } from './recordings.ts'
import { postgresRollouts } from './rollouts.ts'

export { passageRows } from './passage/passage-rows.ts'
export { postgresUsage } from './session/usage.ts'

/** `postgres()` loads these parts with their first use. */
export const lateParts = (db: Database, sealer: Sealer, blobs: Blobs): LateParts => ({
  recordings: postgresRecordings(db, sealer),
  feedback: postgresFeedback(db, sealer),
  rollouts: postgresRollouts(db),
  passages: postgresPassages(db, sealer, blobs),
})
