import { checkName, checkTimes, type UsageAsked, type UsageDay, usageCounts, usageDay } from '@allium/store-sql'
import type { Database } from './database.ts'

const sums = usageCounts.map((name) => `sum(coalesce(json_extract(usage, '$.${name}'), 0)) as ${name.toLowerCase()}`)
const report = `
  select strftime('%Y-%m-%d', ended_at / 1000, 'unixepoch') as day, count(*) as runs, ${sums.join(', ')},
    sum(coalesce(json_extract(usage, '$.estimated'), 0)) as estimated
  from turns where tenant = ? and ended_at >= ? and ended_at < ? and status not in ('closed', 'rewound')
  group by day order by day`

export function sqliteUsage(db: Database, asked: UsageAsked): UsageDay[] {
  return db.all(report, checkName('tenant', asked.tenant), ...checkTimes(asked)).map(usageDay)
}
