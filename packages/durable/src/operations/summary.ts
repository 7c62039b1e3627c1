import type { OperatedStatus, RunCount } from '@allium/store'

/** Runs with the same status, agent, version and queue. */
export interface RunGroup {
  readonly status: OperatedStatus
  readonly agent: string
  readonly version: string
  readonly queue: string
  readonly count: number
  /** The age of the oldest one, in milliseconds: for a queued run since it is due, for others since their last change. */
  readonly oldestAge: number
}

export interface RunsSummary {
  /** The most frequent first. */
  readonly groups: readonly RunGroup[]
  /** How many runs failed with each error code, the most frequent first. */
  readonly failures: readonly { readonly code: string; readonly count: number }[]
}

export function summaryOf(counts: readonly RunCount[], now: number): RunsSummary {
  const groups = new Map<string, RunGroup>()
  const failures = new Map<string, number>()
  for (const { status, agent, version, queue, code, count, oldest } of counts) {
    const name = JSON.stringify([status, agent, version, queue])
    const age = Math.max(0, now - oldest)
    const known = groups.get(name) ?? { status, agent, version, queue, count: 0, oldestAge: 0 }
    groups.set(name, { ...known, count: known.count + count, oldestAge: Math.max(known.oldestAge, age) })
    if (status === 'failed') failures.set(code ?? 'run.failed', (failures.get(code ?? 'run.failed') ?? 0) + count)
  }
  const most = (a: { count: number }, b: { count: number }) => b.count - a.count
  return {
    groups: [...groups.values()].sort(most),
    failures: [...failures].map(([code, count]) => ({ code, count })).sort(most),
  }
}
