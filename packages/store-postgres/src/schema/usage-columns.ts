import { usageColumns } from '@allium/store-sql'

export const usageColumnNames = usageColumns.map((name) => name.toLowerCase())
/** The columns of a day that are summed. */
export const totalColumns = ['runs', 'estimated', ...usageColumnNames]

/** The runs in a usage report, by the day on which they ended. */
export const countedDays = `to_char(to_timestamp(ended_at / 1000) at time zone 'UTC', 'YYYY-MM-DD') as day, count(*) as runs,
  sum(case when usage::json->>'estimated' = 'true' then 1 else 0 end) as estimated,
  ${usageColumns.map((name, i) => `sum(coalesce((usage::json->>'${name}')::double precision, 0)) as ${usageColumnNames[i]}`).join(', ')}`
export const isCounted = "ended_at is not null and status not in ('closed', 'rewound')"
