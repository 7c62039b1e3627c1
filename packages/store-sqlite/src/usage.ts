import { checkName, checkTimes, type UsageAsked, type UsageDay, usageCounts, usageDay } from '@allium/store-sql'
import type { Database } from './database.ts'
import type { Erasures } from './erasures.ts'
import { countedDays, isCounted } from './forget.ts'

const counts = ['runs', 'estimated', ...usageCounts.map((name) => name.toLowerCase())]
const report = `
  select day, ${counts.map((name) => `sum(${name}) as ${name}`).join(', ')} from (
    select ${countedDays} from turns where tenant = ? and ended_at >= ? and ended_at < ? and ${isCounted} group by day
    union all select day, ${counts.join(', ')} from usage_totals where subject = ?
    and day >= strftime('%Y-%m-%d', max(?, 0) / 1000, 'unixepoch') and day <= strftime('%Y-%m-%d', min(?, 253402300799000) / 1000, 'unixepoch')
  ) group by day order by day`

/** Sessions that are stored, and the totals of those that were erased: these have whole days. */
export function sqliteUsage(db: Database, erasures: Erasures, asked: UsageAsked): UsageDay[] {
  const tenant = checkName('tenant', asked.tenant)
  const [from, to] = checkTimes(asked)
  return db.all(report, tenant, from, to, erasures.digest(tenant), from, to - 1).map(usageDay)
}
