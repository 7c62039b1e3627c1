import type { Database, Value } from './database.ts'

/** Forgets what stands beside sessions: runs with their events and steps, values of their placeholders. */
export function forgetBeside(db: Database, of: { tenant: string; owner?: string; sessionId?: string }): void {
  const parts: [string, Value | undefined][] = [
    ['tenant', of.tenant],
    ['owner', of.owner],
    ['session', of.sessionId],
  ]
  const given = parts.filter((part): part is [string, Value] => part[1] !== undefined)
  const which = given.map(([column]) => `${column} = ?`).join(' and ')
  const values = given.map(([, value]) => value)
  for (const table of ['events', 'event_signals'])
    db.run(`delete from ${table} where run in (select run from event_runs where ${which})`, ...values)
  db.run(`delete from steps where (tenant, run) in (select tenant, run from runs where ${which})`, ...values)
  for (const table of ['event_runs', 'vault', 'runs']) db.run(`delete from ${table} where ${which}`, ...values)
}
