import type { Database, Value } from './database.ts'

/** Forgets what stands beside sessions: runs with their events and steps, values of their placeholders. */
export function forgetBeside(
  db: Database,
  of: { tenant: string; owner?: string; agent?: string; sessionId?: string },
): void {
  const parts: [string, Value | undefined][] = [
    ['tenant', of.tenant],
    ['owner', of.owner],
    ['agent', of.agent],
    ['session', of.sessionId],
  ]
  const given = parts.filter((part): part is [string, Value] => part[1] !== undefined)
  const which = given.map(([column]) => `${column} = ?`).join(' and ')
  // Of a run the column `agent` names the agent that runs it.
  const ofRuns = which.replace('agent', 'session_agent')
  const values = given.map(([, value]) => value)
  for (const table of ['events', 'event_signals'])
    db.run(`delete from ${table} where run in (select run from event_runs where ${which})`, ...values)
  db.run(`delete from steps where (tenant, run) in (select tenant, run from runs where ${ofRuns})`, ...values)
  for (const table of ['event_runs', 'vault']) db.run(`delete from ${table} where ${which}`, ...values)
  db.run(`delete from runs where ${ofRuns}`, ...values)
}
