import type { SessionKey } from '@allium/core'
import { usageColumns } from '@allium/store-sql'
import type { Database, Value } from '../database/database.ts'
import type { ErasureLog } from './erasure-log.ts'

const usageColumnNames = usageColumns.map((name) => name.toLowerCase())
const usageSums = usageColumns.map((name) => `sum(coalesce(json_extract(usage, '$.${name}'), 0))`)
export const sessionMatches = 'tenant = ? and owner = ? and agent = ? and session = ?'

/** The runs in a usage report, by the day on which they ended. */
export const countedDays = `strftime('%Y-%m-%d', ended_at / 1000, 'unixepoch') as day, count(*) as runs,
  sum(coalesce(json_extract(usage, '$.estimated'), 0)) as estimated, ${usageSums.map((sum, i) => `${sum} as ${usageColumnNames[i]}`).join(', ')}`
export const isCounted = "ended_at is not null and status not in ('closed', 'rewound')"

const addTotals = `
  insert into usage_totals (subject, day, runs, estimated, ${usageColumnNames.join(', ')})
  select ?, ${countedDays} from turns where ${sessionMatches} and ${isCounted} group by day
  on conflict do update set ${['runs', 'estimated', ...usageColumnNames].map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`

/** Deletes a session. Returns true if it had stored content. */
export function deleteSession(db: Database, { tenant, owner, agent, sessionId }: SessionKey): boolean {
  const values: Value[] = [tenant, owner, agent, sessionId]
  // Other holders are deleted with their run, events or record. A run that was added after an erasure began stays.
  for (const rows of [
    'turns where',
    'pending_calls where',
    'passages where',
    "blob_holders where kind in ('turn', 'open', 'write') and",
  ])
    db.run(`delete from ${rows} ${sessionMatches}`, ...values)
  const row = db.get(
    'delete from sessions where tenant = ? and owner = ? and agent = ? and id = ? returning status',
    ...values,
  )
  return typeof row?.status === 'string'
}

/** Deletes an erased session and adds its usage to the totals of its tenant. */
export function deleteErasedSession(db: Database, erasures: ErasureLog, key: SessionKey): boolean {
  const { tenant, owner, agent, sessionId } = key
  db.run(addTotals, erasures.digest(tenant), tenant, owner, agent, sessionId)
  return deleteSession(db, key)
}
