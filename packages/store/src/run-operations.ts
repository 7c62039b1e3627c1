import type { Usage } from '@allium/core'
import type { DurableRun, DurableStatus, RecordedStep } from './run-store.ts'
import type { StoredSchedule } from './schedule-store.ts'
import type { Page } from './session-store.ts'

/** The status of a run as an operator sees it. A `lost` run began, and its lease ended before a process has taken it over. */
export type OperatedStatus = DurableStatus | 'lost'

/** Selects runs. An absent field matches all runs. */
export interface RunFilter {
  /** @default all tenants */
  readonly tenants?: readonly string[] | undefined
  readonly status?: OperatedStatus | undefined
  readonly agent?: string | undefined
  readonly version?: string | undefined
  readonly queue?: string | undefined
  readonly owner?: string | undefined
  /** The id of the session. */
  readonly session?: string | undefined
  /** The error code that the run ended with. */
  readonly code?: string | undefined
  /** Only runs that did not change for this many milliseconds: they were not claimed, and did not end. */
  readonly olderThan?: number | undefined
}

/** A run as an operator sees it: without its task, and without reasons, which may quote content. */
export interface RunSummary extends Omit<DurableRun, 'task' | 'reason' | 'stop' | 'status'> {
  readonly status: OperatedStatus
  /** The process that claimed it last. Only if that process gave its name. */
  readonly worker?: string
  /** Until when that process holds the run unless it renews the lease, in milliseconds since the epoch. Only while the lease lasts. */
  readonly heldUntil?: number
  /** When it was added, in milliseconds since the epoch by the store's clock. */
  readonly addedAt: number
  /** When it was added, claimed or ended last, in milliseconds since the epoch by the store's clock. */
  readonly updatedAt: number
}

/** Selects schedules. An absent field matches all schedules. */
export interface ScheduleFilter {
  /** @default all tenants */
  readonly tenants?: readonly string[] | undefined
  readonly owner?: string | undefined
  readonly agent?: string | undefined
  readonly id?: string | undefined
  readonly paused?: boolean | undefined
}

/** An entry of a run's timeline. It has no content. Times are milliseconds since the epoch by the store's clock. */
export type TimelineEntry =
  | { readonly type: 'added' | 'retried' | 'stop'; readonly at: number }
  /** A process claimed the run. `attempt` counts the claims since the last recorded step. */
  | { readonly type: 'claimed'; readonly at: number; readonly attempt: number; readonly worker?: string }
  /** A step was recorded. */
  | { readonly type: 'step'; readonly at: number; readonly step: string }
  | { readonly type: 'ended'; readonly at: number; readonly status: DurableStatus; readonly code?: string }

/** A call of a run that has no decision yet. */
export interface RunPendingCall {
  readonly callId: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number
}

/** A run with its timeline. */
export interface RunDescription {
  readonly run: RunSummary
  /** The latest entries, oldest first. */
  readonly timeline: readonly TimelineEntry[]
  /** Whether the run has more entries than were requested. */
  readonly hasEarlier: boolean
  readonly pending: readonly RunPendingCall[]
  /** Tokens and calls of a run that has ended with a turn. */
  readonly usage?: Usage
  /** In USD, of a run that has ended with a turn: all calls whose price is known. Of records with the topic `usage`, as for `calls`. */
  readonly cost?: number
  /** The tokens and costs of its recorded model calls. Only with `observe.usage({ record: true })`. */
  readonly calls?: readonly CallCost[]
}

/** The tokens and the cost of a model call that is a recorded step. */
export interface CallCost {
  readonly step: string
  readonly inputTokens: number
  readonly outputTokens: number
  /** In USD; absent if the price is unknown. */
  readonly cost?: number
}

/** How many runs have the same status, agent, version, queue and code. */
export interface RunCount {
  readonly status: OperatedStatus
  readonly agent: string
  readonly version: string
  readonly queue: string
  readonly code?: string
  readonly count: number
  /**
   * The time of the oldest one, in milliseconds since the epoch. For a queued run it is when the run was due, for others its last change.
   */
  readonly oldest: number
}

/**
 * Shows the durable runs of all tenants to operators. Only `steps()` returns content; the rest has ids, codes and times.
 * Implementations pass `runOperationsConformance` of `@allium/testing/operations`.
 *
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.key`
 */
export interface RunOperations {
  /** Returns the store's time, in milliseconds since the epoch. */
  now(): Promise<number>
  /** Lists runs, newest first. */
  list(of: RunFilter & { cursor?: string; limit: number }): Promise<Page<RunSummary>>
  /** Returns the runs with this id, one in each tenant. If there are none, returns runs whose id starts with it. At most ten. */
  find(of: { run: string; tenants?: readonly string[] | undefined }): Promise<RunSummary[]>
  /**
   * Describes a run. Returns undefined if there is none.
   *
   * @param of.limit most entries of the timeline
   */
  describe(of: { tenant: string; run: string; limit: number }): Promise<RunDescription | undefined>
  /**
   * Counts runs by status, agent, version, queue and code, the most frequent first, at most 1000 groups.
   *
   * @param of.open counts only queued and running runs, which is fast in a large table @default false
   */
  count(of: { tenants?: readonly string[] | undefined; open?: boolean }): Promise<RunCount[]>
  /**
   * Ends a run as `aborted` at once, whichever process executes it. That process can no longer write: its lease has ended. Returns false if
   * the run has ended.
   */
  forceStop(of: { tenant: string; run: string }, why: { code: string; reason: string }): Promise<boolean>
  /** Lists schedules by tenant, owner and id. */
  schedules(of: ScheduleFilter & { cursor?: string; limit: number }): Promise<Page<StoredSchedule>>
  /** Returns the recorded steps of a run that can still continue. This is content. */
  steps(of: { tenant: string; run: string }): Promise<RecordedStep[]>
}
