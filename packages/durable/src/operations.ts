export { operations } from './operations/create-operations.ts'
export type {
  ChangeRunOptions,
  ContentAccess,
  FindRunOptions,
  ListRunsOptions,
  MigrateRunOptions,
  Operations,
  ShowRunOptions,
  SummaryOptions,
} from './operations/operations.ts'
export type { OperationsOptions, OperationsStore } from './operations/options.ts'
export type { ExportedRun } from './operations/run-export.ts'
export type { ShownEntry, ShownRun, ShownStep, StepKind } from './operations/shown-run.ts'
export type { RunGroup, RunsSummary } from './operations/summary.ts'
