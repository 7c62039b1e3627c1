import type { SessionKey } from '@allium/core'
import type { Database } from '../database/database.ts'
import { sessionMatches } from '../lease/delete-session.ts'
import { keyParams } from '../lease/leases.ts'

/**
 * Deletes data that belongs to a session: runs with their events and, by a trigger, their steps, recordings, feedback, and the values of
 * placeholders.
 */
export function cascadeDelete(db: Database, key: SessionKey): void {
  for (const table of ['event_runs', 'recordings', 'feedback', 'vault'])
    db.run(`delete from ${table} where ${sessionMatches}`, ...keyParams(key))
  // In `runs`, the column `agent` names the agent that executes the run.
  db.run(`delete from runs where ${sessionMatches.replace('agent', 'session_agent')}`, ...keyParams(key))
}
