import type { LateParts } from '@allium/store'
import { sqliteFeedback } from './feedback.ts'
import { sqliteRecordings } from './recordings.ts'
import { sqliteRollouts } from './rollouts.ts'
import type { StoreParts } from './store-parts.ts'

/** `sqlite()` loads these parts with their first use. */
export const lateParts = (parts: StoreParts): LateParts => ({
  recordings: sqliteRecordings(parts),
  feedback: sqliteFeedback(parts),
  rollouts: sqliteRollouts(parts),
})
