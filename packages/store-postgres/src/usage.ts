import { checkName, checkTimes, type UsageAsked, type UsageDay, usageCounts, usageDay } from '@allium/store-sql'
import type { Database } from './database.ts'
import { countedDays, isCounted } from './erased-data.ts'
import { ofTenant } from './names.ts'

const counts = ['runs', 'estimated', ...usageCounts.map((name) => name.toLowerCase())]

/** Sessions that are stored, and the totals of those that were erased: these have whole days. */
export async function postgresUsage(db: Database, asked: UsageAsked): Promise<UsageDay[]> {
  const day = (place: string) =>
    `to_char(to_timestamp(least(greatest(${place}::double precision, 0), 253402300799000) / 1000) at time zone 'UTC', 'YYYY-MM-DD')`
  const report = `
    select day, ${counts.map((name) => `sum(${name}) as ${name}`).join(', ')} from (
      select ${countedDays} from ${db.s}.turns
      where ${ofTenant('$1')} and ended_at >= $2 and ended_at < $3 and ${isCounted} group by day
      union all select day, ${counts.join(', ')} from ${db.s}.usage_totals
      where subject = ${db.s}.digest($1) and day >= ${day('$2')} and day <= ${day('$3 - 1')}
    ) days group by day order by day`
  const rows = await db.repeatable(report, checkName('tenant', asked.tenant), ...checkTimes(asked))
  return rows.map((row) => usageDay(row as never))
}
