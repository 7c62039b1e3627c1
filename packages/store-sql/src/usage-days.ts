import { AlliumError, type Usage } from '@allium/core'
import type { SqlRow } from './sql-row.ts'

/** The query of a usage report: the stored runs of a tenant that ended in a period, in milliseconds since the epoch. */
export interface UsageQuery {
  tenant: string
  /** Runs that ended at or after this time. @default the first */
  from?: number | undefined
  /** Runs that ended before this time. @default the last */
  to?: number | undefined
}

/** The usage of a tenant's runs that ended on a day in UTC. */
export interface UsageDay {
  /** For example `2026-11-22`. */
  day: string
  runs: number
  usage: Record<(typeof usageColumns)[number], number>
  /** Whether some of it is estimated. */
  estimated: boolean
}

/** The usage counts, as columns of a report. */
export const usageColumns = [
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'calls',
] as const satisfies readonly (keyof Usage)[]

/** Parses a row with a lowercase column for each count, and `day`, `runs` and `estimated`. */
export function usageDayFromRow(row: SqlRow): UsageDay {
  const counts = usageColumns.map((name) => [name, Number(row[name.toLowerCase()] ?? 0)])
  return {
    day: String(row.day),
    runs: Number(row.runs),
    usage: Object.fromEntries(counts) as UsageDay['usage'],
    estimated: Number(row.estimated) > 0,
  }
}

/** @throws AlliumError `store.key` for an invalid time */
export function checkTimeRange({ from = 0, to = Number.MAX_SAFE_INTEGER }: UsageQuery): [from: number, to: number] {
  for (const time of [from, to])
    if (!Number.isFinite(time))
      throw new AlliumError(
        'store.key',
        `A usage report takes its times in milliseconds since the epoch, but ${String(time)} was given. Write Date.parse('2026-11-01').`,
      )
  return [from, to]
}
