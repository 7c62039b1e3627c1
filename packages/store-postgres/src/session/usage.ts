import { checkName, checkTimeRange, type UsageDay, type UsageQuery, usageDayFromRow } from '@allium/store-sql'
import type { Database } from '../database/database.ts'
import { tenantMatches } from '../database/keys.ts'
import { totalColumns as columns, countedDays, isCounted } from '../schema/usage-columns.ts'

/** Covers stored sessions, and the totals of erased ones, which exist only per whole day. */
export async function postgresUsage(db: Database, query: UsageQuery): Promise<UsageDay[]> {
  const day = (param: string) =>
    `to_char(to_timestamp(least(greatest(${param}::double precision, 0), 253402300799000) / 1000) at time zone 'UTC', 'YYYY-MM-DD')`
  const report = `
    select day, ${columns.map((name) => `sum(${name}) as ${name}`).join(', ')} from (
      select ${countedDays} from ${db.s}.turns
      where ${tenantMatches('$1')} and ended_at >= $2 and ended_at < $3 and ${isCounted} group by day
      union all select day, ${columns.join(', ')} from ${db.s}.usage_totals
      where subject = ${db.s}.digest($1) and day >= ${day('$2')} and day <= ${day('$3 - 1')}
    ) days group by day order by day`
  const rows = await db.queryIdempotent(report, checkName('tenant', query.tenant), ...checkTimeRange(query))
  return rows.map((row) => usageDayFromRow(row as never))
}
