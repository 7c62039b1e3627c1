import { AlliumError } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { Page, ScheduleChange, ScheduleFilter, ScheduleStore, StoredSchedule } from '@allium/store'
import { ticksOf } from '../schedules/cron.ts'
import type { OperatorAction, OperatorAudit } from './audit.ts'
import { boundPage } from './bound-cursor.ts'
import { bounded, plainText, text } from './bounds.ts'
import { checkListOptions } from './list-options.ts'
import type { OperationsStore } from './options.ts'

/** A schedule as an operator sees it: without its request, and without the reason of a pause, which may quote content. */
export interface OperatedSchedule extends Omit<StoredSchedule, 'paused' | 'revision'> {
  readonly paused: boolean
}

export interface ListSchedulesOptions extends Omit<ScheduleFilter, 'tenants'> {
  /** @default all tenants */
  readonly tenant?: string | undefined
  /** The `cursor` of the previous page. */
  readonly cursor?: string | undefined
  /** 1 to 1000. @default 50 */
  readonly limit?: number | undefined
}

/** A change of a schedule by an operator. With a name, the change is recorded in the audit first. */
export interface ChangeScheduleOptions {
  /** Required only if several tenants have a schedule with this id. */
  readonly tenant?: string | undefined
  /** Required only if several owners have a schedule with this id. */
  readonly owner?: string | undefined
  readonly operator?: string | undefined
  readonly reason?: string | undefined
}

/** The schedules of all agents and tenants, for operators. */
export interface OperatedSchedules {
  /** Lists schedules by tenant, owner and id. @throws AlliumError `run.options`, `store.key` for an invalid cursor */
  list(options?: ListSchedulesOptions): Promise<Page<OperatedSchedule>>
  /** Stops its ticks until `resume()`. Active runs continue. @throws AlliumError `session.not_found`, `run.options` */
  pause(id: string, options?: ChangeScheduleOptions): Promise<OperatedSchedule>
  /** Continues with the next tick from now on. @throws AlliumError `session.not_found`, `run.options` */
  resume(id: string, options?: ChangeScheduleOptions): Promise<OperatedSchedule>
  /**
   * Makes the next tick due now: a process of the agent starts its run at its next poll, once the previous run has ended. Later ticks do not
   * change.
   *
   * @throws AlliumError `session.not_found`; `run.options` for a paused schedule
   */
  run(id: string, options?: ChangeScheduleOptions): Promise<OperatedSchedule>
}

const listKeys: KeysOf<ListSchedulesOptions> = {
  ...{ tenant: true, owner: true, agent: true, id: true, paused: true, cursor: true, limit: true },
}

/** The schedules of some tenants, or of all. */
export class SchedulesOfTenants implements OperatedSchedules {
  readonly #store: OperationsStore
  readonly #audit: OperatorAudit
  readonly #only: (tenant: string | undefined) => readonly string[] | undefined

  constructor(
    store: OperationsStore,
    { audit, only }: { audit: OperatorAudit; only(tenant: string | undefined): readonly string[] | undefined },
  ) {
    this.#store = store
    this.#audit = audit
    this.#only = only
  }

  async list(options: ListSchedulesOptions = {}): Promise<Page<OperatedSchedule>> {
    checkOptions(options, listKeys, 'schedules.list()', 'run.options')
    const { tenant, cursor, limit = 50, id, paused, owner, agent } = options
    checkListOptions({ tenant, owner, agent, session: id, cursor })
    const filter = { id, paused, owner, agent, tenants: this.#only(tenant) }
    const page = { limit: bounded('limit', limit, 1000) }
    const { items, ...more } = await boundPage(filter, cursor, (at) =>
      this.#store.operations.schedules({ ...filter, ...page, ...at }),
    )
    return { items: items.map(shown), ...more }
  }

  pause(id: string, options: ChangeScheduleOptions = {}): Promise<OperatedSchedule> {
    const { reason = 'An operator paused it.' } = options
    return this.#change('schedule_pause', id, options, ({ paused = reason }) => ({ nextAt: null, paused }))
  }

  resume(id: string, options: ChangeScheduleOptions = {}): Promise<OperatedSchedule> {
    return this.#change('schedule_resume', id, options, ({ cron, tz, paused }, now) =>
      paused === undefined ? {} : { nextAt: ticksOf(cron, tz).next(now) ?? null, paused: null },
    )
  }

  run(id: string, options: ChangeScheduleOptions = {}): Promise<OperatedSchedule> {
    return this.#change('schedule_run', id, options, ({ paused }, now) => {
      if (paused === undefined) return { nextAt: now }
      throw new AlliumError('run.options', `The schedule "${id}" is paused. Resume it first.`)
    })
  }

  async #change(
    action: OperatorAction,
    id: string,
    options: ChangeScheduleOptions,
    change: (schedule: StoredSchedule, now: number) => ScheduleChange,
  ): Promise<OperatedSchedule> {
    const { operator, reason } = options
    const why = reason === undefined ? {} : { reason: plainText('reason', reason) }
    const by = operator === undefined ? undefined : { operator: plainText('operator', operator), ...why }
    for (let isRecorded = false; ; ) {
      const found = await this.#find(id, options)
      const changed = change(found, await this.#store.operations.now())
      if (by !== undefined && !isRecorded) await this.#audit.record(action, { schedule: found }, by)
      isRecorded = true
      // A process may have moved the schedule to its next tick meanwhile.
      if (await this.#schedules.advance(found, changed)) return shown(await this.#find(id, found))
    }
  }

  get #schedules(): ScheduleStore {
    const { schedules } = this.#store
    if (schedules !== undefined) return schedules
    throw new AlliumError(
      'options.invalid',
      'operations() needs a store with schedules, such as sqlite() or postgres().',
    )
  }

  async #find(id: string, { tenant, owner }: ChangeScheduleOptions): Promise<StoredSchedule> {
    const filter = { id: text('id of the schedule', id), owner, tenants: this.#only(tenant) }
    const { items } = await this.#store.operations.schedules({ ...filter, limit: 10 })
    const [found, another] = items
    if (found !== undefined && another === undefined) return found
    if (found === undefined)
      throw new AlliumError('session.not_found', `There is no schedule "${id}". Check its id, tenant and owner.`)
    const owners = items.map((one) => `${one.owner} (tenant ${one.tenant})`).join(', ')
    throw new AlliumError(
      'run.options',
      `Several owners have a schedule "${id}": ${owners}. Pass the tenant and the owner, too.`,
    )
  }
}

function shown({ paused, revision: _, ...schedule }: StoredSchedule): OperatedSchedule {
  return { ...schedule, paused: paused !== undefined }
}
