import { type Input, toJson } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { MissedTicks } from '@allium/store'
import { agentOptionsError, runOptionsError } from '../host/option-errors.ts'
import { type Task, taskOf } from '../run/task.ts'
import { type Ticks, ticksOf } from './cron.ts'

/** Most bytes of a schedule's request, as JSON. */
const maxRequestBytes = 262_144
const maxIdLength = 128

export interface SchedulesOptions {
  /** Most schedules of one owner. @default 100 */
  perOwner?: number | undefined
}

/** A schedule, and the request of its runs. All of it is stored, so it takes plain data without functions. */
export interface ScheduleOptions {
  /** The id, which is unique among the schedules of the owner: 1 to 128 characters. */
  id: string
  /** A cron pattern with five fields (minute, hour, day of month, month, day of week), or a nickname such as `@daily`. */
  cron: string
  /** The IANA time zone in which the pattern is read. @default 'UTC' */
  tz?: string | undefined
  /** The input of each run. The request of a schedule has at most 256 KiB as JSON. */
  input: Input
  /** The owner of the runs. It needs the option `resolvePrincipal` of `durable()`. @default none */
  principal?: unknown
  /** The session of all runs. @default each run has a new session, named after the schedule and the tick */
  sessionId?: string | undefined
  /** The runtime context of each run. */
  context?: unknown
  /** JSON Schema of each answer. */
  output?: Readonly<Record<string, unknown>> | undefined
  /**
   * Which ticks run that came due while no process was running, or while the previous run was still active: `'latest'` runs only the
   * latest of them, once. `'skip'` runs none. `'all'` runs each of them in turn, at most the latest 100. @default 'latest'
   */
  missed?: MissedTicks | undefined
  /** The queue of the runs, as in `start()`. @default 'default' */
  queue?: string | undefined
  /** The priority of the runs, as in `start()`: a whole number from -1000 to 1000, the smallest first. @default 0 */
  priority?: number | undefined
}

/** The request of a schedule as it is stored. */
export interface ScheduledTask extends Task {
  readonly queue?: string
  readonly priority?: number
}

/** A checked schedule. */
export interface CheckedSchedule {
  readonly id: string
  readonly cron: string
  readonly tz: string
  readonly missed: MissedTicks
  readonly sessionId: string | undefined
  readonly request: ScheduledTask
  readonly ticks: Ticks
}

const schedulesOptionKeys: KeysOf<SchedulesOptions> = { perOwner: true }

/** @throws AlliumError `agent.options` */
export function checkSchedulesOptions(options: SchedulesOptions): void {
  checkOptions(options, schedulesOptionKeys, 'schedules()', 'agent.options')
  const { perOwner = 1 } = options
  if (!(Number.isInteger(perOwner) && perOwner > 0))
    throw agentOptionsError(`schedules() takes perOwner as a whole number above 0, but ${perOwner} was given.`)
}

const scheduleOptionKeys: KeysOf<ScheduleOptions> = {
  id: true,
  cron: true,
  tz: true,
  input: true,
  principal: true,
  sessionId: true,
  context: true,
  output: true,
  missed: true,
  queue: true,
  priority: true,
}

/** @throws AlliumError `run.options` */
export function checkedSchedule(options: ScheduleOptions): CheckedSchedule {
  checkOptions(options ?? null, scheduleOptionKeys, 'A schedule', 'run.options')
  const { id, cron, tz = 'UTC', missed = 'latest', sessionId, queue, priority, ...request } = options
  checkScheduleId(id)
  if (!['skip', 'latest', 'all'].includes(missed))
    throw runOptionsError(`The option missed is 'skip', 'latest' or 'all', but ${String(missed)} was given.`)
  if (priority !== undefined && !(Number.isInteger(priority) && Math.abs(priority) <= 1000))
    throw runOptionsError(
      `The option priority is a whole number from -1000 to 1000, but ${String(priority)} was given.`,
    )
  const place = { ...(queue !== undefined && { queue }), ...(priority !== undefined && { priority }) }
  const task: ScheduledTask = { ...taskOf(request), ...place }
  const { length } = new TextEncoder().encode(toJson(task))
  if (length > maxRequestBytes)
    throw runOptionsError(
      `The request of the schedule "${id}" has ${length} bytes as JSON, and at most ${maxRequestBytes} are stored. Store large data elsewhere, and let a tool read it.`,
    )
  return { id, cron, tz, missed, sessionId, request: task, ticks: ticksOf(cron, tz) }
}

/** @throws AlliumError `run.options` */
export function checkScheduleId(id: unknown): void {
  // It becomes part of session ids.
  if (typeof id === 'string' && id.length > 0 && id.length <= maxIdLength && !/[\p{Cc}\p{Cs}]/u.test(id)) return
  throw runOptionsError(
    `The id of a schedule has 1 to ${maxIdLength} characters without control characters, but ${typeof id === 'string' ? `a text of ${id.length} characters` : String(id)} was given.`,
  )
}
