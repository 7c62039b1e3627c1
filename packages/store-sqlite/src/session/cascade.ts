import type { Database, Value } from '../database/database.ts'

/** Deletes data that belongs to sessions: runs with their events and, by a trigger, their steps, recordings, feedback, and the values of placeholders. */
export function cascadeDelete(
  db: Database,
  scope: { tenant: string; owner?: string; agent?: string; sessionId?: string },
): void {
  const columns: [string, Value | undefined][] = [
    ['tenant', scope.tenant],
    ['owner', scope.owner],
    ['agent', scope.agent],
    ['session', scope.sessionId],
  ]
  const setColumns = columns.filter((part): part is [string, Value] => part[1] !== undefined)
  const condition = setColumns.map(([column]) => `${column} = ?`).join(' and ')
  // In `runs`, the column `agent` names the agent that executes the run.
  const runCondition = condition.replace('agent', 'session_agent')
  const values = setColumns.map(([, value]) => value)
  for (const table of ['event_runs', 'recordings', 'feedback', 'vault'])
    db.run(`delete from ${table} where ${condition}`, ...values)
  db.run(`delete from runs where ${runCondition}`, ...values)
}
