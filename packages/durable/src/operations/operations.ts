import type { Page, RunSummary } from '@allium/store'
import type { MigrateOptions, Migration } from '../migration/migrate.ts'
import type { DeniedCall } from './deny-call.ts'
import type { ListRunsOptions } from './list-options.ts'
import type { OperatedQueue } from './queues.ts'
import type { RetryResult } from './refusals.ts'
import type { ExportedRun } from './run-export.ts'
import type { OperatedSchedules } from './schedules.ts'
import type { ShownRun } from './shown-run.ts'
import type { StartedAgain } from './start-again.ts'
import type { RunsSummary } from './summary.ts'

export interface FindRunOptions {
  /** Required only if two tenants have a run with this id. */
  readonly tenant?: string | undefined
}

export interface ShowRunOptions extends FindRunOptions {
  /** Most entries of the timeline, 1 to 1000. @default 500 */
  readonly limit?: number | undefined
}

/** A change of a run by an operator. With a name, the change is recorded in the audit first. */
export interface ChangeRunOptions extends FindRunOptions {
  /** The name of the operator. @default the change is not recorded */
  readonly operator?: string | undefined
  /** Why. It is recorded, and is the reason of a stop. */
  readonly reason?: string | undefined
}

/** `to` is the version of an agent in the option `agents`. The audit records only a move of a run that fits. */
export interface MigrateRunOptions extends ChangeRunOptions, MigrateOptions {}

/** Who denies a pending call, and why. Both are recorded in the audit first. The model and the user do not see the reason. */
export interface DenyOptions extends ContentAccess {
  /** Required only if several calls of the run wait. */
  readonly callId?: string | undefined
}

export interface StartAgainOptions extends ChangeRunOptions {
  /** Start it although it has recorded steps of tools or `once()`, which the new run may do again. @default false */
  readonly repeatEffects?: boolean | undefined
}

/** A change of all runs that match a filter. */
export type BulkAction = 'stop' | 'forceStop' | 'retry' | 'migrate'

export interface BulkOptions {
  /** At least one condition. */
  readonly where: Omit<ListRunsOptions, 'cursor' | 'limit'>
  /** Only counts the runs. @default false */
  readonly dryRun?: boolean | undefined
  /** Most runs, 1 to 10,000. @default 10,000 */
  readonly limit?: number | undefined
  /** For `migrate`, the version of an agent in the option `agents`. */
  readonly to?: string | undefined
  readonly operator?: string | undefined
  readonly reason?: string | undefined
}

export interface BulkResult {
  /** How many runs match and have a status that the change applies to, up to the limit. */
  readonly matched: number
  /** Whether more runs match. Repeat the call. */
  readonly more: boolean
  /** How many of them were changed. */
  readonly changed: number
  /** Why others were not, at most 100 of them. */
  readonly refused: readonly { readonly run: string; readonly tenant: string; readonly reason: string }[]
}

/** Who looks at the content of a run, and why. Both are recorded in the audit before the content is read. */
export interface ContentAccess extends FindRunOptions {
  readonly operator: string
  readonly reason: string
}

export interface SummaryOptions {
  /** @default all tenants */
  readonly tenant?: string | undefined
  /** Count only queued and running runs, which is fast in a large table. @default false */
  readonly open?: boolean | undefined
}

/**
 * The durable runs of all agents and tenants, for operators. Methods that take a run accept its id, or the first characters of it (at least
 * four) if no other run begins with them.
 */
export interface Operations {
  /** The schedules of durable runs. */
  readonly schedules: OperatedSchedules
  /** Lists runs, newest first. @throws AlliumError `run.options`, `store.key` for an invalid cursor */
  list(options?: ListRunsOptions): Promise<Page<RunSummary>>
  /** Returns a run with its timeline, without content. @throws AlliumError `session.not_found`, `run.options` */
  show(run: string, options?: ShowRunOptions): Promise<ShownRun>
  /** Counts runs by status, agent and version, and failures by code. */
  summary(options?: SummaryOptions): Promise<RunsSummary>
  /**
   * Stops a run at its next step, whichever process executes it. Returns false if the run has ended.
   *
   * @throws AlliumError `session.not_found`, `run.options`; `store.unavailable` if an operator is named and the audit fails
   */
  stop(run: string, options?: ChangeRunOptions): Promise<boolean>
  /**
   * Ends a run as `aborted` at once, also if the process that executes it hangs. That process can no longer record anything, but a call that
   * it has begun goes on, and its effect is not recorded. Returns false if the run has ended. Prefer `stop()`.
   *
   * @throws AlliumError `session.not_found`, `run.options`; `store.unavailable` if an operator is named and the audit fails
   */
  forceStop(run: string, options?: ChangeRunOptions): Promise<boolean>
  /**
   * Queues a failed run again. A process of its version continues it from its recorded steps. If that is impossible, the result has the
   * reason.
   *
   * @throws AlliumError `session.not_found`, `run.options`; `store.unavailable` if an operator is named and the audit fails
   */
  retry(run: string, options?: ChangeRunOptions): Promise<RetryResult>
  /**
   * Starts a new run with the request of one that failed or was aborted, in the same session. The new run does not know the recorded steps of
   * the former one. Repeating the call returns the same run.
   *
   * @throws AlliumError `session.not_found`; `run.options` if the run cannot be started again, or if it has recorded effects and
   * `repeatEffects` is not set; `store.unavailable` if an operator is named and the audit fails
   */
  startAgain(run: string, options?: StartAgainOptions): Promise<StartedAgain>
  /**
   * Denies a call that waits for approval, without its token. A new run of the same version continues the turn without the call. The history
   * names the operator as the approver: `by.operator`, which no user has. An operator cannot approve.
   *
   * @throws AlliumError `session.not_found`; `run.options` if no such call waits, or without an operator or a reason; `approval.used` if the
   * call was decided meanwhile; `options.invalid` without an audit; `store.unavailable` if the audit fails
   */
  deny(run: string, options: DenyOptions): Promise<DeniedCall>
  /**
   * Stops, force-stops, retries or migrates all runs that match a filter, one after the other. With `dryRun`, only counts them.
   *
   * @throws AlliumError `run.options` without a condition; `store.unavailable` if an operator is named and the audit fails
   */
  bulk(action: BulkAction, options: BulkOptions): Promise<BulkResult>
  /** Counts the runs of each queue that have not ended, and returns its limits, by name. */
  queues(options?: FindRunOptions): Promise<OperatedQueue[]>
  /**
   * Replays the recorded steps of a run with the code of an agent in the option `agents`, and moves the run to its version if they fit. No
   * step runs and nothing else is recorded, but the code around the steps runs. A process of that version continues the run.
   *
   * @throws AlliumError `session.not_found`; `run.options` if the run has ended, or its agent was not given; `run.version` if the agent has
   * another version than `to`; `store.unavailable` if an operator is named and the audit fails
   */
  migrate(run: string, options: MigrateRunOptions): Promise<Migration>
  /**
   * Returns everything that the store has of a run, with its content: the request, the recorded steps and the turn. Records the access in
   * the audit first, and returns nothing if that fails.
   *
   * @throws AlliumError `session.not_found`; `run.options` without an operator or a reason; `options.invalid` without an audit;
   * `store.unavailable` if the audit fails
   */
  export(run: string, access: ContentAccess): Promise<ExportedRun>
  /** Returns the same operations for the runs of these tenants only. Other runs do not exist for it. */
  within(tenants: readonly string[]): Operations
}
