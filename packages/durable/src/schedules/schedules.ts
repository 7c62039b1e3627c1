import { AlliumError, type Input } from '@allium/core'
import type { Page, ScheduleChange, ScheduleStore, StoredSchedule } from '@allium/store'
import type { Durable } from '../durable.ts'
import { type Host, hostOf } from '../host/host.ts'
import { agentOptionsError } from '../host/option-errors.ts'
import type { RunAccess, StartedRun } from '../requests/owned-run.ts'
import { storedTask } from '../run/task.ts'
import { ticksOf } from './cron.ts'
import {
  checkedSchedule,
  checkScheduleId,
  checkSchedulesOptions,
  type ScheduleOptions,
  type SchedulesOptions,
} from './options.ts'
import { Scheduler } from './scheduler.ts'

/** A schedule without its request. */
export interface ScheduleSummary
  extends Pick<
    StoredSchedule,
    'id' | 'cron' | 'tz' | 'missed' | 'sessionId' | 'nextAt' | 'paused' | 'lastAt' | 'lastRun'
  > {
  readonly owner: string
}

export interface ScheduleInfo extends ScheduleSummary {
  readonly input: Input
}

/** The schedules of an agent: runs that start by a cron pattern. */
export interface Schedules {
  /**
   * Adds a schedule, or replaces the owner's schedule with this id. A replaced schedule stays paused, and keeps its next tick if `cron`
   * and `tz` are the same. Each process can therefore call `create()` when it starts.
   *
   * @throws AlliumError `run.options` for an invalid or unknown option, too many schedules, or a principal without `resolvePrincipal`
   */
  create(options: ScheduleOptions): Promise<ScheduleInfo>
  /** @throws AlliumError `session.not_found` */
  get(id: string, access?: RunAccess): Promise<ScheduleInfo>
  /** Lists the schedules of a tenant, or of one owner in it, by owner and id. */
  list(of: { tenant: string; owner?: string; cursor?: string; limit?: number }): Promise<Page<ScheduleSummary>>
  /** Stops its ticks until `resume()`. Active runs continue. @throws AlliumError `session.not_found` */
  pause(id: string, access?: RunAccess & { reason?: string }): Promise<ScheduleInfo>
  /** Continues with the next tick from now on. Ticks that came meanwhile do not run. @throws AlliumError `session.not_found` */
  resume(id: string, access?: RunAccess): Promise<ScheduleInfo>
  /** Deletes a schedule, but not its runs. Returns false if the schedule does not exist. */
  delete(id: string, access?: RunAccess): Promise<boolean>
  /** Starts a run now, even if the schedule is paused. Its ticks do not change. @throws AlliumError `session.not_found` */
  trigger(id: string, access?: RunAccess): Promise<StartedRun>
}

/**
 * Returns the schedules of an agent. Call it in each process that executes the runs: such a process also starts the runs of due ticks,
 * whenever it polls the store. Each tick starts exactly one run, in however many processes.
 *
 * @throws AlliumError `agent.options` if the store of `durable()` has no schedules
 *
 * @example
 * const daily = schedules(durable(agent, { store, resolvePrincipal }))
 * await daily.create({ id: 'report', cron: '0 8 * * 1-5', tz: 'Europe/Berlin', input: 'Write the report', principal })
 */
export function schedules(runs: Durable, options: SchedulesOptions = {}): Schedules {
  checkSchedulesOptions(options)
  const host = hostOf(runs, 'schedules()')
  const store = host.schedules
  if (store === undefined)
    throw agentOptionsError(
      'schedules() needs a store with schedules, such as sqlite() or postgres(). Pass that store itself to durable().',
    )
  const scheduler = new Scheduler(host, store)
  host.pollHooks.add(() => scheduler.addDue())
  return new AgentSchedules(host, store, { scheduler, runs, perOwner: options.perOwner ?? 100 })
}

interface Parts {
  readonly scheduler: Scheduler
  readonly runs: Durable
  readonly perOwner: number
}

class AgentSchedules implements Schedules {
  readonly #host: Host
  readonly #store: ScheduleStore
  readonly #parts: Parts

  constructor(host: Host, store: ScheduleStore, parts: Parts) {
    this.#host = host
    this.#store = store
    this.#parts = parts
  }

  async create(options: ScheduleOptions): Promise<ScheduleInfo> {
    const { ticks, request, ...schedule } = checkedSchedule(options)
    const { agent, names, clock } = this.#host
    await agent.init()
    if (request.principal !== undefined && this.#host.resolvePrincipal === undefined)
      throw new AlliumError(
        'run.options',
        `The schedule "${schedule.id}" has a principal, whose rights are looked up for each run. Pass resolvePrincipal to durable().`,
      )
    this.#host.queues.limits(request.queue ?? 'default')
    const { tenant, owner } = agent.session({
      ...(schedule.sessionId !== undefined && { id: schedule.sessionId }),
      principal: request.principal as never,
    }).key
    const nextAt = ticks.next(clock.now()) as number
    const stored = await this.#store.put(
      { ...schedule, tenant, owner, agent: agent.name, request, nextAt },
      { agents: names, perOwner: this.#parts.perOwner },
    )
    return infoOf(stored, request.input)
  }

  async get(id: string, access: RunAccess = {}): Promise<ScheduleInfo> {
    const { schedule, request } = await this.#find(id, access)
    return infoOf(schedule, storedTask(request).input)
  }

  async list({ limit = 50, ...of }: Parameters<Schedules['list']>[0]): Promise<Page<ScheduleSummary>> {
    const { items, ...rest } = await this.#store.list({ limit, ...of, agents: this.#host.names })
    return { items: items.map(summaryOf), ...rest }
  }

  pause(id: string, { reason = 'paused', ...access }: RunAccess & { reason?: string } = {}): Promise<ScheduleInfo> {
    return this.#change(id, access, ({ paused = reason }) => ({ nextAt: null, paused }))
  }

  resume(id: string, access: RunAccess = {}): Promise<ScheduleInfo> {
    return this.#change(id, access, ({ cron, tz, paused }) =>
      paused === undefined ? {} : { nextAt: ticksOf(cron, tz).next(this.#host.clock.now()) ?? null, paused: null },
    )
  }

  async delete(id: string, access: RunAccess = {}): Promise<boolean> {
    const found = await this.#store.get(this.#keyOf(id, access))
    if (found === undefined || !this.#host.names.includes(found.schedule.agent)) return false
    return this.#store.delete(found.schedule)
  }

  async trigger(id: string, access: RunAccess = {}): Promise<StartedRun> {
    for (;;) {
      const { schedule, request } = await this.#find(id, access)
      const run = await this.#parts.scheduler.runOf(schedule, storedTask(request))
      // Another process may have moved the schedule to its next tick meanwhile.
      if (!(await this.#store.advance(schedule, { run }))) continue
      await this.#parts.runs.recover()
      return { run: run.run, turnId: run.run, sessionId: run.key.sessionId }
    }
  }

  async #change(
    id: string,
    access: RunAccess,
    change: (schedule: StoredSchedule) => ScheduleChange,
  ): Promise<ScheduleInfo> {
    for (;;) {
      const { schedule } = await this.#find(id, access)
      if (await this.#store.advance(schedule, change(schedule))) return this.get(id, access)
    }
  }

  /** @throws AlliumError `session.not_found`, also for a schedule of another owner or agent */
  async #find(id: string, access: RunAccess): Promise<{ schedule: StoredSchedule; request: unknown }> {
    const found = await this.#store.get(this.#keyOf(id, access))
    if (found !== undefined && this.#host.names.includes(found.schedule.agent)) return found
    throw new AlliumError(
      'session.not_found',
      `There is no schedule "${id}" of this principal. Check its id, tenant and owner.`,
    )
  }

  #keyOf(id: string, { principal }: RunAccess) {
    checkScheduleId(id)
    const { tenant, owner } = this.#host.agent.session({ principal: principal as never }).key
    return { tenant, owner, id }
  }
}

function infoOf(schedule: StoredSchedule, input: Input | undefined): ScheduleInfo {
  return { ...summaryOf(schedule), input: input ?? '' }
}

function summaryOf({ tenant: _, agent: __, revision: ___, ...summary }: StoredSchedule): ScheduleSummary {
  return summary
}
