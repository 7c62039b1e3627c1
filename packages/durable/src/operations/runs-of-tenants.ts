import { AlliumError } from '@allium/core'
import type { EventLog, RunSummary } from '@allium/store'
import { OperatorAudit } from './audit.ts'
import { bounded, checkListOptions, text } from './bounds.ts'
import { migrateRun } from './migrate-run.ts'
import type {
  ChangeRunOptions,
  ContentAccess,
  FindRunOptions,
  ListRunsOptions,
  MigrateRunOptions,
  Operations,
  ShowRunOptions,
  SummaryOptions,
} from './operations.ts'
import type { OperationsOptions, OperationsStore } from './options.ts'
import { exportRun } from './run-export.ts'
import { runNotFound } from './run-not-found.ts'
import { shownRun } from './shown-run.ts'
import { summaryOf } from './summary.ts'

/** The operations on the runs of some tenants, or of all. */
export class RunsOfTenants implements Operations {
  readonly #options: OperationsOptions
  readonly #store: OperationsStore
  readonly #events: EventLog | undefined
  readonly #audit: OperatorAudit
  readonly #tenants: readonly string[] | undefined

  /** @param audit shared by all operations on a store, because each has its own queue of records */
  constructor(options: OperationsOptions, tenants: readonly string[] | undefined, audit = new OperatorAudit(options)) {
    const { store, events = store.events } = options
    this.#options = options
    this.#store = store
    this.#events = events
    this.#audit = audit
    this.#tenants = tenants
  }

  async list(options: ListRunsOptions = {}) {
    checkListOptions(options)
    const { tenant, cursor, limit, ...filter } = options
    const page = { limit: bounded('limit', limit ?? 50, 1000), ...(cursor !== undefined && { cursor }) }
    return this.#store.operations.list({ ...filter, ...page, tenants: this.#only(tenant) })
  }

  async show(id: string, options: ShowRunOptions = {}) {
    const limit = bounded('limit', options.limit ?? 500, 1000)
    const { key, run } = await this.#find(id, options)
    const described = await this.#store.operations.describe({ tenant: key.tenant, run, limit })
    if (described === undefined) throw runNotFound(run)
    return shownRun(described)
  }

  async summary({ tenant, open = false }: SummaryOptions = {}) {
    const [now, counts] = await Promise.all([
      this.#store.operations.now(),
      this.#store.operations.count({ tenants: this.#only(tenant), open }),
    ])
    return summaryOf(counts, now)
  }

  async stop(id: string, options: ChangeRunOptions = {}) {
    const { key, run } = await this.#find(id, options)
    const { reason = 'stopped' } = await this.#recordChange('stop', { key, run }, options)
    const isStopping = await this.#store.runs.stop({ tenant: key.tenant, run }, reason)
    // Reaches the process that executes the run at once. Otherwise it finds the request at its next step.
    if (isStopping) await this.#events?.signal({ key, turnId: run }, { stop: true }).catch(() => {})
    return isStopping
  }

  async retry(id: string, options: ChangeRunOptions = {}) {
    const { key, run } = await this.#find(id, options)
    await this.#recordChange('retry', { key, run }, options)
    return this.#store.runs.retry({ tenant: key.tenant, run })
  }

  async migrate(id: string, options: MigrateRunOptions) {
    const found = await this.#find(id, options ?? {})
    const beforeMove = () => this.#recordChange('migrate', found, options)
    return migrateRun(this.#options, found, { ...options, beforeMove })
  }

  async export(id: string, access: ContentAccess) {
    const operator = text('operator', access?.operator)
    const reason = text('reason', access?.reason)
    const { key, run } = await this.#find(id, access)
    await this.#audit.record('content', { key, run }, { operator, reason })
    return exportRun(this.#store, { key, run })
  }

  within(tenants: readonly string[]): Operations {
    const allowed = this.#tenants === undefined ? tenants : tenants.filter((tenant) => this.#tenants?.includes(tenant))
    return new RunsOfTenants(this.#options, [...allowed], this.#audit)
  }

  /** Returns the tenants of a request. None if the tenant is outside of the allowed ones. */
  #only(tenant: string | undefined): readonly string[] | undefined {
    if (tenant === undefined) return this.#tenants
    return this.#tenants === undefined || this.#tenants.includes(tenant) ? [tenant] : []
  }

  /** @throws AlliumError `session.not_found`; `run.options` if two tenants have a run with this id */
  async #find(id: string, { tenant }: FindRunOptions): Promise<RunSummary> {
    const run = text('id of the run', id)
    const [found, another] = await this.#store.operations.find({ run, tenants: this.#only(tenant) })
    if (found === undefined) throw runNotFound(run)
    if (another === undefined) return found
    throw new AlliumError('run.options', `Several tenants have a run "${run}". Pass the tenant, too.`)
  }

  async #recordChange(
    change: 'stop' | 'retry' | 'migrate',
    where: Pick<RunSummary, 'key' | 'run'>,
    options: ChangeRunOptions,
  ): Promise<{ reason?: string }> {
    const reason = options.reason === undefined ? {} : { reason: text('reason', options.reason) }
    if (options.operator !== undefined)
      await this.#audit.record(change, where, { operator: text('operator', options.operator), ...reason })
    return reason
  }
}
