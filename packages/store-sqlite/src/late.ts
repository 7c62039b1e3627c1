import type { LateParts } from '@allium/store'
import { sqliteFeedback } from './feedback.ts'
import { sqlitePassages } from './passage/passages.ts'
import { sqliteRecordings } from './recordings.ts'
import { sqliteRollouts } from './rollouts.ts'
import type { StoreParts } from './store-parts.ts'

export { addPassages } from './passage/add-passages.ts'
export { purgeTerms } from './passage/purge-terms.ts'
export { AgentRenames } from './session/agent-renames.ts'
export { sqliteUsage } from './session/usage.ts'

/** `sqlite()` loads these parts with their first use. */
export const lateParts = (parts: StoreParts): LateParts => ({
  recordings: sqliteRecordings(parts),
  feedback: sqliteFeedback(parts),
  rollouts: sqliteRollouts(parts),
  passages: sqlitePassages(parts),
})
