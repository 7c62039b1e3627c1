export { operations } from './operations/create-operations.ts'
export type { DeniedCall } from './operations/deny-call.ts'
export type { ListRunsOptions } from './operations/list-options.ts'
export type {
  BulkAction,
  BulkOptions,
  BulkResult,
  ChangeRunOptions,
  ContentAccess,
  DenyOptions,
  FindRunOptions,
  MigrateRunOptions,
  Operations,
  ShowRunOptions,
  StartAgainOptions,
  SummaryOptions,
} from './operations/operations.ts'
export type { OperationsOptions, OperationsStore } from './operations/options.ts'
export type { OperatedQueue } from './operations/queues.ts'
export type { RetryRefusal, RetryResult } from './operations/refusals.ts'
export type { ExportedRun } from './operations/run-export.ts'
export type {
  ChangeScheduleOptions,
  ListSchedulesOptions,
  OperatedSchedule,
  OperatedSchedules,
} from './operations/schedules.ts'
export type { ShownEntry, ShownRun, ShownStep, StepKind } from './operations/shown-run.ts'
export type { StartedAgain } from './operations/start-again.ts'
export type { RunGroup, RunsSummary } from './operations/summary.ts'
