import {
  checkName,
  checkTimeRange,
  type UsageDay,
  type UsageQuery,
  usageColumns,
  usageDayFromRow,
} from '@allium/store-sql'
import type { Database } from '../database/database.ts'
import { countedDays, isCounted } from '../lease/delete-session.ts'
import type { ErasureLog } from '../lease/erasure-log.ts'

const columns = ['runs', 'estimated', ...usageColumns.map((name) => name.toLowerCase())]
const report = `
  select day, ${columns.map((name) => `sum(${name}) as ${name}`).join(', ')} from (
    select ${countedDays} from turns where tenant = ? and ended_at >= ? and ended_at < ? and ${isCounted} group by day
    union all select day, ${columns.join(', ')} from usage_totals where subject = ?
    and day >= strftime('%Y-%m-%d', max(?, 0) / 1000, 'unixepoch') and day <= strftime('%Y-%m-%d', min(?, 253402300799000) / 1000, 'unixepoch')
  ) group by day order by day`

/** Covers stored sessions, and the totals of erased ones, which exist only per whole day. */
export function sqliteUsage(db: Database, erasures: ErasureLog, query: UsageQuery): UsageDay[] {
  const tenant = checkName('tenant', query.tenant)
  const [from, to] = checkTimeRange(query)
  return db.all(report, tenant, from, to, erasures.digest(tenant), from, to - 1).map(usageDayFromRow)
}
