import { AlliumError, type Usage } from '@allium/core'
import type { SqlRow } from './sql-row.ts'

/** What to report: the stored runs of a tenant that ended in a time, in milliseconds since the epoch. */
export interface UsageQuery {
  tenant: string
  /** @default the first */
  from?: number | undefined
  /** Runs that ended before it. @default the last */
  to?: number | undefined
}

/** What the runs of a tenant that ended on a day of UTC have used. */
export interface UsageDay {
  /** Such as `2026-11-22`. */
  day: string
  runs: number
  usage: Required<Omit<Usage, 'estimated'>>
  /** Some of it is estimated. */
  estimated: boolean
}

/** The counts of a usage, as columns of a report. */
export const usageColumns = [
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'calls',
] as const satisfies readonly (keyof Usage)[]

/** A row with a column of each count in small letters, `day`, `runs` and `estimated`. */
export function usageDayFromRow(row: SqlRow): UsageDay {
  const counts = usageColumns.map((name) => [name, Number(row[name.toLowerCase()] ?? 0)])
  return {
    day: String(row.day),
    runs: Number(row.runs),
    usage: Object.fromEntries(counts) as UsageDay['usage'],
    estimated: Number(row.estimated) > 0,
  }
}

/** @throws AlliumError `store.key` for what is no time */
export function checkTimeRange({ from = 0, to = Number.MAX_SAFE_INTEGER }: UsageQuery): [from: number, to: number] {
  for (const time of [from, to])
    if (!Number.isFinite(time))
      throw new AlliumError(
        'store.key',
        `A report of usage is from one time to another, in milliseconds since the epoch, but ${String(time)} was given. Write Date.parse('2026-11-01').`,
      )
  return [from, to]
}
