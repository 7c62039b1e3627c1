import type { ScheduleChange, ScheduleKey, ScheduleStore } from '@allium/store'
import {
  type Blobs,
  changedColumns,
  checkOwner,
  openDue,
  openSchedule,
  type Sealer,
  scheduleColumns,
  scheduleFromRow,
  scheduleOfOtherAgent,
  schedulePage,
  scheduleRowKey,
  tooManySchedules,
} from '@allium/store-sql'
import { checkCombinedLength } from '../database/combined-length.ts'
import { type Database, paramList, type Row } from '../database/database.ts'
import { checkSessionKey } from '../database/keys.ts'
import { RunAdder } from './run-adder.ts'

/** Schedules of durable runs in Postgres. */
export function postgresSchedules(db: Database, parts: { sealer: Sealer; blobs: Blobs }): ScheduleStore {
  const { sealer } = parts
  const find = async (key: ScheduleKey): Promise<Row | undefined> => {
    const sql = `select * from ${db.s}.schedules where tenant = $1 and owner = $2 and id = $3`
    const [row] = await db.queryIdempotent(sql, ...scheduleKeyParams(key))
    return row
  }
  return {
    async put(schedule, { agents, perOwner }) {
      const key = scheduleKeyParams(schedule)
      const columns = await scheduleColumns(sealer, schedule)
      const sql = `select problem_, agent_, (row_).* from ${db.s}.put_schedule($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
      const [row] = await db.queryIdempotent(sql, ...key, ...columns, agents, perOwner)
      if (row?.problem_ === 'full') throw tooManySchedules(perOwner)
      if (row?.problem_ === 'agent') throw scheduleOfOtherAgent(schedule.id, String(row.agent_))
      return scheduleFromRow(row as Row)
    },
    get: async (key) => openSchedule(sealer, await find(key)),
    async list({ agents, cursor, limit, ...scope }) {
      const { tenant, owner = null } = checkOwner(scope)
      return schedulePage({ cursor, limit }, (...after) =>
        db.queryIdempotent(
          `select * from ${db.s}.schedules where tenant = $1 and ($2::text is null or owner = $2)
           and ($3::text[] is null or agent = any ($3)) and (tenant, owner, id) > ($4, $5, $6) order by owner, id limit $7`,
          ...[tenant, owner, agents ?? null, ...after, limit + 1],
        ),
      )
    },
    async claimDue({ agents, limit, ms }) {
      const sql = `select (row_).*, now_ from ${db.s}.claim_schedules($1, $2, $3)`
      const rows = await db.queryOnce(sql, agents, limit, ms)
      return openDue(sealer, rows, Math.floor(Number(rows[0]?.now_)))
    },
    async advance({ revision, ...key }, change) {
      const row = await find(key)
      if (row === undefined || row.revision !== revision) return false
      const values = [...scheduleKeyParams(key), revision, ...changedColumns(row, change)]
      const { run } = change
      if (run !== undefined) return addRunIfAdvanced(db, parts, run, values)
      return (await db.callOnce('advance_schedule', ...values, false)) === true
    },
    async delete(key) {
      const sql = `delete from ${db.s}.schedules where tenant = $1 and owner = $2 and id = $3 returning id`
      return (await db.queryOnce(sql, ...scheduleKeyParams(key))).length > 0
    },
  }
}

/** Adds a run in the statement that advances its schedule. */
async function addRunIfAdvanced(
  db: Database,
  parts: { sealer: Sealer; blobs: Blobs },
  run: NonNullable<ScheduleChange['run']>,
  values: readonly unknown[],
): Promise<boolean> {
  const input = { ...run, key: checkSessionKey({ ...run.key }) }
  try {
    await new RunAdder(db, parts).add(input, {}, (first) => {
      return { sql: `${db.s}.advance_schedule(${paramList(values.length, first)}, true)`, values }
    })
    return true
  } catch (error) {
    const { code } = error as { code?: unknown }
    // Its owner was erased since, with the schedule and the run.
    if (code === 'store.fenced') return false
    if (code !== 'AL002') throw error
    // The statement may have been sent twice, because the first answer was lost.
    const sql = `select from ${db.s}.runs where tenant = $1 and run = $2`
    return (await db.queryIdempotent(sql, run.key.tenant, run.run)).length > 0
  }
}

function scheduleKeyParams(key: ScheduleKey): [tenant: string, owner: string, id: string] {
  const params = scheduleRowKey(key)
  checkCombinedLength('tenant, owner and id of the schedule', params)
  return params
}
