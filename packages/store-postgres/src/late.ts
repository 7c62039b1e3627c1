import type { LateParts } from '@allium/store'
import type { Sealer } from '@allium/store-sql'
import type { Database } from './database/database.ts'
import { postgresFeedback } from './feedback.ts'
import { postgresRecordings } from './recordings.ts'
import { postgresRollouts } from './rollouts.ts'

/** `postgres()` loads these parts with their first use. */
export const lateParts = (db: Database, sealer: Sealer): LateParts => ({
  recordings: postgresRecordings(db, sealer),
  feedback: postgresFeedback(db, sealer),
  rollouts: postgresRollouts(db),
})
