import { checkName, checkTimes, type UsageAsked, type UsageDay, usageCounts, usageDay } from '@allium/store-sql'
import type { Database } from './database.ts'
import { ofTenant } from './names.ts'

const sums = usageCounts.map(
  (name) => `sum(coalesce((usage::json->>'${name}')::double precision, 0)) as ${name.toLowerCase()}`,
)

export async function postgresUsage(db: Database, asked: UsageAsked): Promise<UsageDay[]> {
  const report = `
    select to_char(to_timestamp(ended_at / 1000) at time zone 'UTC', 'YYYY-MM-DD') as day, count(*) as runs, ${sums.join(', ')},
      sum(case when usage::json->>'estimated' = 'true' then 1 else 0 end) as estimated
    from ${db.s}.turns
    where ${ofTenant('$1')} and ended_at >= $2 and ended_at < $3 and status not in ('closed', 'rewound')
    group by day order by day`
  const rows = await db.repeatable(report, checkName('tenant', asked.tenant), ...checkTimes(asked))
  return rows.map((row) => usageDay(row as never))
}
