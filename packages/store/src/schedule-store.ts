import type { AlliumError } from '@allium/core'
import type { NewDurableRun } from './run-store.ts'
import type { Page } from './session-store.ts'

/** Which ticks run that came due while no process executed them: none, the latest one, or each in turn. */
export type MissedTicks = 'skip' | 'latest' | 'all'

/** Identifies a schedule. Two owners may use the same id. */
export interface ScheduleKey {
  readonly tenant: string
  readonly owner: string
  readonly id: string
}

/** A new schedule, for `put()`. */
export interface NewSchedule extends ScheduleKey {
  /** The name of the agent that executes its runs. */
  readonly agent: string
  /** The cron pattern, and the IANA time zone in which it is read. */
  readonly cron: string
  readonly tz: string
  readonly missed: MissedTicks
  /** The session of its runs. @default a new session for each run */
  readonly sessionId?: string | undefined
  /** The request of its runs, as a value that `toJson` takes. */
  readonly request: unknown
  /** The next tick, in milliseconds since the epoch. */
  readonly nextAt: number
}

/** A schedule as it is stored. */
export interface StoredSchedule extends Omit<NewSchedule, 'nextAt' | 'request'> {
  /** The next tick, in milliseconds since the epoch; undefined while the schedule is paused. */
  readonly nextAt?: number
  /** Why it is paused; undefined while it is active. */
  readonly paused?: string
  /** The last tick that started a run, in milliseconds since the epoch, and that run. */
  readonly lastAt?: number
  readonly lastRun?: string
  /** Grows with each change. */
  readonly revision: number
}

/** A schedule whose next tick has come. */
export interface DueSchedule {
  readonly schedule: StoredSchedule & { readonly nextAt: number }
  /** The request of its runs, or the error for a request that can never be read. */
  readonly request?: unknown
  readonly unreadable?: AlliumError
  /** The time in milliseconds since the epoch, by the store's clock. */
  readonly now: number
}

/** A change of a schedule. Absent fields keep their value; null removes it. */
export interface ScheduleChange {
  readonly nextAt?: number | null
  readonly paused?: string | null
  /** Adds this run in the same transaction. */
  readonly run?: NewDurableRun
  /** The tick for which the run is added. Without it, the run does not count as the schedule's last run. */
  readonly tick?: number
}

/**
 * Stores the schedules of durable runs, in the same store as the runs. Every operation is atomic. Erasing an owner or a tenant deletes
 * their schedules. Implementations pass `scheduleStoreConformance` of `@allium/testing`.
 *
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.full`, `store.readonly`, `store.key`
 */
export interface ScheduleStore {
  /**
   * Adds a schedule, or replaces the one with the same key. A replaced schedule stays paused, and keeps its next tick if its pattern and
   * time zone are the same, so that repeating a `put()` never skips a tick.
   *
   * @param options.agents the names of the agent; a schedule of another agent is not replaced
   * @param options.perOwner most schedules of one owner
   * @throws AlliumError `run.options` if the owner has too many schedules, or if the id belongs to a schedule of another agent
   */
  put(schedule: NewSchedule, options: { agents: readonly string[]; perOwner: number }): Promise<StoredSchedule>
  get(key: ScheduleKey): Promise<{ schedule: StoredSchedule; request: unknown } | undefined>
  /** Lists the schedules of a tenant, or of one owner in it, by owner and id. */
  list(of: {
    tenant: string
    owner?: string
    /** The names of the agents whose schedules are listed. @default all */
    agents?: readonly string[]
    cursor?: string
    limit: number
  }): Promise<Page<StoredSchedule>>
  /**
   * Returns schedules whose tick has come and whose last run has ended, those that have waited longest first. For `ms` milliseconds no
   * other call returns them, unless they change. A schedule whose request cannot be read now is left out.
   */
  claimDue(of: { agents: readonly string[]; limit: number; ms: number }): Promise<DueSchedule[]>
  /**
   * Changes a schedule if it still has this revision, and adds a run in the same transaction. Returns false if it has changed, was
   * deleted, or was erased. Then nothing is stored.
   */
  advance(key: ScheduleKey & { readonly revision: number }, change: ScheduleChange): Promise<boolean>
  /** Deletes a schedule, but not its runs. Returns false if it does not exist. */
  delete(key: ScheduleKey): Promise<boolean>
}
