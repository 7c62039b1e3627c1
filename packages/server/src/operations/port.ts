import type { Page, RunSummary } from '@allium/store'

interface FindRun {
  readonly tenant?: string | undefined
}

interface ChangeRun extends FindRun {
  readonly operator: string
  readonly reason?: string | undefined
}

interface MigrateRun extends ChangeRun {
  readonly to: string
  readonly check?: boolean | undefined
}

/** The operations on durable runs, as the server uses them. `operations()` of `@allium/durable/operations` returns them. */
export interface ServedOperations {
  list(options: {
    readonly tenant?: string | undefined
    readonly status?: RunSummary['status'] | undefined
    readonly agent?: string | undefined
    readonly version?: string | undefined
    readonly code?: string | undefined
    readonly olderThan?: number | undefined
    readonly cursor?: string | undefined
    readonly limit: number
  }): Promise<Page<RunSummary>>
  show(run: string, options: FindRun & { readonly limit: number }): Promise<object>
  summary(options: FindRun): Promise<object>
  stop(run: string, options: ChangeRun): Promise<boolean>
  retry(run: string, options: ChangeRun): Promise<boolean>
  migrate(run: string, options: MigrateRun): Promise<object>
  export(run: string, access: ChangeRun & { readonly reason: string }): Promise<object>
  within(tenants: readonly string[]): ServedOperations
}
