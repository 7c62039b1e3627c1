import { AlliumError, isAlliumError } from '@allium/core'
import type {
  DueSchedule,
  MissedTicks,
  NewSchedule,
  Page,
  ScheduleChange,
  ScheduleKey,
  StoredSchedule,
} from '@allium/store'
import type { EncryptionContext } from './encryption.ts'
import { checkName } from './key.ts'
import { parseCursor, toPage } from './page.ts'
import type { Sealer } from './sealer.ts'
import { type SqlRow, toBytes } from './sql-row.ts'

/** Returns the key of a schedule as statement parameters. @throws AlliumError `store.key` */
export function scheduleRowKey({ tenant, owner, id }: ScheduleKey): [tenant: string, owner: string, id: string] {
  return [checkName('tenant', tenant), checkName('owner', owner), checkName('id of the schedule', id)]
}

/** Returns the columns of a new schedule: agent, pattern, time zone, missed ticks, session, request and next tick. */
export async function scheduleColumns(sealer: Sealer, schedule: NewSchedule) {
  const { cron, tz, missed, sessionId = null, request, nextAt } = schedule
  const sealed = await sealer.seal(request, requestContext(schedule))
  return [checkName('agent', schedule.agent), cron, tz, missed, sessionId, sealed, nextAt] as const
}

/** Returns the columns of a schedule after a change: next tick, pause, last tick and its run. */
export function changedColumns(row: SqlRow, { nextAt, paused, tick, run }: ScheduleChange) {
  const schedule = scheduleFromRow(row)
  return [
    (nextAt === undefined ? schedule.nextAt : nextAt) ?? null,
    (paused === undefined ? schedule.paused : paused) ?? null,
    tick ?? schedule.lastAt ?? null,
    (tick === undefined ? schedule.lastRun : run?.run) ?? null,
  ] as const
}

/** Returns a schedule and its request. */
export async function openSchedule(sealer: Sealer, row: SqlRow | undefined) {
  return row && { schedule: scheduleFromRow(row), request: await openRequest(sealer, row) }
}

/** Returns the page of schedules after a cursor. @param query returns the rows after a tenant, owner and id */
export async function schedulePage<R extends SqlRow>(
  { cursor, limit }: { cursor?: string | undefined; limit: number },
  query: (...after: [tenant: string, owner: string, id: string]) => readonly R[] | Promise<readonly R[]>,
): Promise<Page<StoredSchedule>> {
  const rows = await query(...parseCursor(cursor, ['', '', ''] as [string, string, string]))
  return toPage(rows, limit, (row) => [String(row.tenant), String(row.owner), String(row.id)], scheduleFromRow)
}

async function openRequest(sealer: Sealer, row: SqlRow): Promise<unknown> {
  return sealer.open(toBytes(row.request), requestContext(scheduleFromRow(row)))
}

/** Opens the requests of due schedules. One that cannot be opened now is left out, and does not delay the others. */
export async function openDue(sealer: Sealer, rows: readonly SqlRow[], now: number): Promise<DueSchedule[]> {
  const opened = rows.map(async (row): Promise<DueSchedule[]> => {
    const schedule = scheduleFromRow(row) as DueSchedule['schedule']
    try {
      return [{ schedule, now, request: await openRequest(sealer, row) }]
    } catch (error) {
      if (isAlliumError(error, 'store.unavailable')) return []
      if (!isAlliumError(error, 'store.sealed') && !isAlliumError(error, 'store.corrupt')) throw error
      return [{ schedule, now, unreadable: error }]
    }
  })
  return (await Promise.all(opened)).flat()
}

export function scheduleFromRow(row: SqlRow): StoredSchedule {
  const { tenant, owner, id, agent, cron, tz, missed, session, next_at, paused, last_at, last_run } = row
  return {
    ...{ tenant: String(tenant), owner: String(owner), id: String(id), agent: String(agent) },
    ...{ cron: String(cron), tz: String(tz), missed: missed as MissedTicks },
    ...(typeof session === 'string' && { sessionId: session }),
    ...(next_at !== null && { nextAt: Number(next_at) }),
    ...(typeof paused === 'string' && { paused }),
    ...(last_at !== null && { lastAt: Number(last_at) }),
    ...(typeof last_run === 'string' && { lastRun: last_run }),
    revision: Number(row.revision),
  }
}

export function tooManySchedules(perOwner: number): AlliumError {
  return new AlliumError(
    'run.options',
    `This owner already has ${perOwner} schedules, which is the maximum. Delete one, or raise "perOwner" of schedules().`,
  )
}

export function scheduleOfOtherAgent(id: string, agent: string): AlliumError {
  return new AlliumError(
    'run.options',
    `The schedule "${id}" of this owner belongs to the agent "${agent}". Use another id, or delete that schedule first.`,
  )
}

function requestContext({ tenant, owner, id }: ScheduleKey): EncryptionContext {
  return { tenant, row: JSON.stringify(['schedule', owner, id]) }
}
