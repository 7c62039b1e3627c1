import type { OperatedStatus, Page, RunSummary } from '@allium/store'

interface FindRun {
  readonly tenant?: string | undefined
}

interface ChangeRun extends FindRun {
  readonly operator: string
  readonly reason?: string | undefined
}

interface MigrateRun extends ChangeRun {
  readonly to: string
  readonly dryRun?: boolean | undefined
}

interface Conditions extends FindRun {
  readonly status?: OperatedStatus | undefined
  readonly agent?: string | undefined
  readonly version?: string | undefined
  readonly queue?: string | undefined
  readonly owner?: string | undefined
  readonly session?: string | undefined
  readonly code?: string | undefined
  readonly olderThan?: number | undefined
}

interface PageOf {
  readonly cursor?: string | undefined
  readonly limit: number
}

interface BulkChange {
  readonly where: Conditions
  readonly dryRun?: boolean | undefined
  readonly limit: number
  readonly to?: string | undefined
  readonly operator: string
  readonly reason?: string | undefined
}

type Reasoned = ChangeRun & { readonly reason: string }

interface ServedSchedules {
  list(options: ListSchedules & PageOf): Promise<Page<object>>
  pause(id: string, options: ChangeSchedule): Promise<object>
  resume(id: string, options: ChangeSchedule): Promise<object>
  run(id: string, options: ChangeSchedule): Promise<object>
}

interface ListSchedules extends FindRun {
  readonly owner?: string | undefined
  readonly agent?: string | undefined
  readonly id?: string | undefined
  readonly paused?: boolean | undefined
}

type ChangeSchedule = ChangeRun & { readonly owner?: string | undefined }

/** The operations on durable runs, as the server uses them. `operations()` of `@allium/durable/operations` returns them. */
export interface ServedOperations {
  readonly schedules: ServedSchedules
  list(options: Conditions & PageOf): Promise<Page<RunSummary>>
  show(run: string, options: FindRun & { readonly limit: number }): Promise<object>
  summary(options: FindRun): Promise<object>
  queues(options: FindRun): Promise<readonly object[]>
  stop(run: string, options: ChangeRun): Promise<boolean>
  forceStop(run: string, options: ChangeRun): Promise<boolean>
  retry(run: string, options: ChangeRun): Promise<object>
  startAgain(run: string, options: ChangeRun & { readonly repeatEffects?: boolean | undefined }): Promise<object>
  deny(run: string, options: Reasoned & { readonly callId?: string | undefined }): Promise<object>
  migrate(run: string, options: MigrateRun): Promise<object>
  bulk(action: 'stop' | 'forceStop' | 'retry' | 'migrate', options: BulkChange): Promise<object>
  export(run: string, access: Reasoned): Promise<object>
  within(tenants: readonly string[]): ServedOperations
}
