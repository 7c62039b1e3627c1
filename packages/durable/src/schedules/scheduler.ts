import { messageOf } from '@allium/core'
import type { DueSchedule, NewDurableRun, ScheduleStore, StoredSchedule } from '@allium/store'
import type { Host } from '../host/host.ts'
import { storedTask } from '../run/task.ts'
import { ticksOf } from './cron.ts'
import { dueTick } from './due-tick.ts'
import type { ScheduledTask } from './options.ts'

/** Most schedules per look. */
const batchSize = 50
/** A tick that is found later than this many milliseconds is missed. */
const minGrace = 60_000

/** Adds the runs of due ticks, each in the transaction that moves its schedule to the next tick. */
export class Scheduler {
  readonly #host: Host
  readonly #store: ScheduleStore

  constructor(host: Host, store: ScheduleStore) {
    this.#host = host
    this.#store = store
  }

  /** Adds the runs whose tick has come. Returns whether more schedules may be due. */
  async addDue(): Promise<boolean> {
    const { names, lease, logger } = this.#host
    const due = await this.#store.claimDue({ agents: names, limit: batchSize, ms: lease })
    for (const one of due)
      try {
        await this.#addRun(one)
      } catch (error) {
        logger.warn(
          `The schedule "${one.schedule.id}" could not start a run: ${messageOf(error)} It will be retried.`,
          {
            error,
          },
        )
      }
    return due.length === batchSize
  }

  async #addRun({ schedule, request, unreadable, now }: DueSchedule): Promise<void> {
    const { resolvePrincipal, lease, logger } = this.#host
    if (unreadable !== undefined) return this.#pause(schedule, `${unreadable.code}: ${unreadable.message}`)
    const task = storedTask(request)
    if (task.principal !== undefined && resolvePrincipal === undefined)
      return logger.warn(
        `The schedule "${schedule.id}" has a principal, so this process cannot run it. Pass resolvePrincipal to durable().`,
      )
    const ticks = ticksOf(schedule.cron, schedule.tz)
    const grace = Math.max(minGrace, lease * 2)
    const { tick, nextAt } = dueTick(ticks, { ...schedule, now, grace })
    const ended = nextAt === undefined ? { nextAt: null, paused: 'The pattern never fires again.' } : { nextAt }
    const run = tick === undefined ? {} : { tick, run: await this.runOf(schedule, task, tick) }
    await this.#store.advance(schedule, { ...ended, ...run })
  }

  /** @param tick the tick; undefined for a run that was requested */
  async runOf(schedule: StoredSchedule, scheduled: ScheduledTask, tick?: number): Promise<NewDurableRun> {
    const { agent, version, shape } = this.#host
    const { queue, priority, ...task } = scheduled
    await agent.init()
    const run = crypto.randomUUID()
    const id = schedule.sessionId ?? `${schedule.id}:${tick === undefined ? run : new Date(tick).toISOString()}`
    const { key } = agent.session({ id, principal: task.principal as never })
    const others = agent.sessionNames.filter((name) => name !== key.agent)
    if (schedule.sessionId !== undefined && others.length > 0) await this.#host.sessions.rename(key, others)
    const request = { ...task, version, schedule: schedule.id }
    return { run, key, agent: agent.name, version, task: request, shape: await shape(), runAt: tick, queue, priority }
  }

  /** Pauses a schedule that cannot be read, so that it does not fail at every poll. */
  async #pause(schedule: StoredSchedule, reason: string): Promise<void> {
    const isPaused = await this.#store.advance(schedule, { nextAt: null, paused: reason })
    if (isPaused) this.#host.logger.error(`The schedule "${schedule.id}" was paused: ${reason}`)
  }
}
