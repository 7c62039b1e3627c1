import { AlliumError } from '@allium/core'
import type { EventLog, RunSummary } from '@allium/store'
import { type OperatorAction, OperatorAudit } from './audit.ts'
import { boundPage } from './bound-cursor.ts'
import { bounded, plainText, text } from './bounds.ts'
import { bulk } from './bulk.ts'
import { denyCall } from './deny-call.ts'
import { checkListOptions, type ListRunsOptions } from './list-options.ts'
import { migrateRun } from './migrate-run.ts'
import type {
  BulkAction,
  BulkOptions,
  ChangeRunOptions,
  ContentAccess,
  DenyOptions,
  FindRunOptions,
  MigrateRunOptions,
  Operations,
  ShowRunOptions,
  StartAgainOptions,
  SummaryOptions,
} from './operations.ts'
import type { OperationsOptions, OperationsStore } from './options.ts'
import { queuesOf } from './queues.ts'
import { refusalOf } from './refusals.ts'
import { exportRun } from './run-export.ts'
import { runNotFound } from './run-not-found.ts'
import { SchedulesOfTenants } from './schedules.ts'
import { shownRun } from './shown-run.ts'
import { startAgain } from './start-again.ts'
import { summaryOf } from './summary.ts'

/** Shorter texts find only the run with exactly that id. */
const minPrefix = 4

/** The operations on the runs of some tenants, or of all. */
export class RunsOfTenants implements Operations {
  readonly schedules: SchedulesOfTenants
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
    this.schedules = new SchedulesOfTenants(store, { audit, only: (tenant) => this.#only(tenant) })
  }

  async list(options: ListRunsOptions = {}) {
    checkListOptions(options)
    const { tenant, cursor, limit, ...filter } = options
    const of = { ...filter, tenants: this.#only(tenant) }
    const page = { limit: bounded('limit', limit ?? 50, 1000) }
    return boundPage(of, cursor, (at) => this.#store.operations.list({ ...of, ...page, ...at }))
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
    const scope = { tenant: key.tenant, run }
    await this.#recordChange('retry', { key, run }, options)
    if (await this.#store.runs.retry(scope)) return { queued: true }
    const described = await this.#store.operations.describe({ ...scope, limit: 1 })
    if (described === undefined) throw runNotFound(run)
    return refusalOf(described)
  }

  async forceStop(id: string, options: ChangeRunOptions = {}) {
    const { key, run } = await this.#find(id, options)
    const { reason = 'An operator ended the run.' } = await this.#recordChange('force_stop', { key, run }, options)
    const isEnded = await this.#store.operations.forceStop(
      { tenant: key.tenant, run },
      { code: 'run.force_stopped', reason },
    )
    // A process that still executes the run stops at once. It can no longer record anything.
    if (isEnded) await this.#events?.signal({ key, turnId: run }, { stop: true }).catch(() => {})
    return isEnded
  }

  async startAgain(id: string, options: StartAgainOptions = {}) {
    const found = await this.#find(id, options)
    const beforeAdd = () => this.#recordChange('start_again', found, options)
    return startAgain(this.#store, found, { repeatEffects: options.repeatEffects === true, beforeAdd })
  }

  async deny(id: string, options: DenyOptions) {
    const operator = plainText('operator', options?.operator)
    const reason = plainText('reason', options?.reason)
    const found = await this.#find(id, options)
    const beforeAdd = (call: string) => this.#audit.record('deny', found, { operator, reason, call })
    return denyCall(this.#store, found, { callId: options.callId, operator, beforeAdd })
  }

  bulk(action: BulkAction, options: BulkOptions) {
    return bulk(this, action, options)
  }

  async queues({ tenant }: FindRunOptions = {}) {
    const [now, counts] = await Promise.all([
      this.#store.operations.now(),
      this.#store.operations.count({ tenants: this.#only(tenant), open: true }),
    ])
    return queuesOf(counts, this.#options.queues ?? {}, now)
  }

  async migrate(id: string, options: MigrateRunOptions) {
    const found = await this.#find(id, options ?? {})
    const beforeMove = () => this.#recordChange('migrate', found, options)
    return migrateRun(this.#options, found, { ...options, beforeMove })
  }

  async export(id: string, access: ContentAccess) {
    const operator = plainText('operator', access?.operator)
    const reason = plainText('reason', access?.reason)
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

  /**
   * Finds a run by its id, or by the first characters of it.
   *
   * @throws AlliumError `session.not_found`; `run.options` if several runs match
   */
  async #find(id: string, { tenant }: FindRunOptions): Promise<RunSummary> {
    const run = text('id of the run', id)
    const matching = await this.#store.operations.find({ run, tenants: this.#only(tenant) })
    const [found, another] = matching
    if (found === undefined || (found.run !== run && run.length < minPrefix)) throw runNotFound(run)
    if (another === undefined) return found
    if (found.run === run)
      throw new AlliumError('run.options', `Several tenants have a run "${run}". Pass the tenant, too.`)
    const ids = matching.map((one) => `${one.run} (tenant ${one.key.tenant})`).join(', ')
    throw new AlliumError('run.options', `Several runs begin with "${run}": ${ids}. Give more characters of the id.`)
  }

  async #recordChange(
    change: OperatorAction,
    where: Pick<RunSummary, 'key' | 'run'>,
    options: ChangeRunOptions,
  ): Promise<{ reason?: string }> {
    const reason = options.reason === undefined ? {} : { reason: plainText('reason', options.reason) }
    if (options.operator !== undefined)
      await this.#audit.record(change, where, { operator: plainText('operator', options.operator), ...reason })
    return reason
  }
}
