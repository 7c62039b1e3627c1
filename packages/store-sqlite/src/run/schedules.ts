import type { ScheduleChange, ScheduleKey, ScheduleStore } from '@allium/store'
import {
  changedColumns,
  checkKey,
  checkOwner,
  openDue,
  openSchedule,
  scheduleColumns,
  scheduleFromRow,
  scheduleOfOtherAgent,
  schedulePage,
  scheduleRowKey,
  tooManySchedules,
} from '@allium/store-sql'
import type { Row, Value } from '../database/database.ts'
import type { StoreParts } from '../store-parts.ts'
import { RunAdder } from './run-adder.ts'

const keyMatches = 'tenant = ? and owner = ? and id = ?'
const isOneOf = 'agent in (select value from json_each(?))'

/** Schedules of durable runs in a SQLite file. */
export function sqliteSchedules(parts: StoreParts): ScheduleStore {
  const { db, clock, sealer } = parts
  const table = new ScheduleTable(parts)
  return {
    async put(schedule, { agents, perOwner }) {
      const key = scheduleRowKey(schedule)
      const columns = await scheduleColumns(sealer, schedule)
      return db.write(() => {
        table.checkPlace(schedule, agents, perOwner)
        return scheduleFromRow(db.get(putSchedule, ...key, ...columns, schedule.nextAt, table.token()) as Row)
      })
    },
    get: async (key) =>
      openSchedule(sealer, db.get(`select * from schedules where ${keyMatches}`, ...scheduleRowKey(key))),
    async list({ agents, cursor, limit, ...scope }) {
      const { tenant, owner = null } = checkOwner(scope)
      const agentParams = agents === undefined ? null : JSON.stringify(agents)
      return schedulePage({ cursor, limit }, (...after) =>
        db.all(
          `select * from schedules where tenant = ? and (? is null or owner = ?) and (? is null or ${isOneOf})
           and (tenant, owner, id) > (?, ?, ?) order by owner, id limit ?`,
          ...[tenant, owner, owner, agentParams, agentParams, ...after, limit + 1],
        ),
      )
    },
    async claimDue({ agents, limit, ms }) {
      const now = clock.now()
      const rows = db.write(() => db.all(claimDue, now + ms, JSON.stringify(agents), now, limit))
      return openDue(sealer, rows, now)
    },
    async advance({ revision, ...key }, change) {
      scheduleRowKey(key)
      const { run } = change
      if (run === undefined) return db.writeInGroup(() => table.advance(key, revision, change))
      const input = { ...run, key: checkKey({ ...run.key }) }
      return addIfAdvanced(parts, input, () => table.advance(key, revision, change))
    },
    delete: (key) =>
      db.writeInGroup(() => db.run(`delete from schedules where ${keyMatches}`, ...scheduleRowKey(key)) > 0),
  }
}

/** Thrown inside the transaction that adds a run, so that nothing is stored. */
class ScheduleMoved extends Error {}

/** Adds a run in the transaction of `advance`, if that returns true. */
async function addIfAdvanced(
  parts: StoreParts,
  run: NonNullable<ScheduleChange['run']>,
  advance: () => boolean,
): Promise<boolean> {
  try {
    await new RunAdder(parts).add(run, {}, () => {
      if (!advance()) throw new ScheduleMoved()
    })
    return true
  } catch (error) {
    if (error instanceof ScheduleMoved) return false
    throw error
  }
}

/** The rows of schedules. Its methods run inside a transaction. */
class ScheduleTable {
  readonly #parts: StoreParts

  constructor(parts: StoreParts) {
    this.#parts = parts
  }

  /** The current token. Rows with a lower token than that of an erasure belong to the erased data. */
  token(): Value {
    return this.#parts.db.get("select value from counters where name = 'token'")?.value ?? 0
  }

  /** Deletes an erased schedule with this key. @throws AlliumError `run.options` */
  checkPlace({ tenant, owner, id }: ScheduleKey, agents: readonly string[], perOwner: number): void {
    const { db } = this.#parts
    const row = this.#current({ tenant, owner, id })
    if (row === undefined) {
      db.run(`delete from schedules where ${keyMatches}`, tenant, owner, id)
      const count = db.get('select count(*) as n from schedules where tenant = ? and owner = ?', tenant, owner)
      if (Number(count?.n) >= perOwner) throw tooManySchedules(perOwner)
    } else if (!agents.includes(String(row.agent))) throw scheduleOfOtherAgent(id, String(row.agent))
  }

  advance(key: ScheduleKey, revision: number, change: ScheduleChange): boolean {
    const { db, clock } = this.#parts
    const row = this.#current(key)
    if (row === undefined || row.revision !== revision) return false
    const columns = changedColumns(row, change)
    const dueAt = columns[0] === null ? null : Math.max(columns[0], clock.now())
    db.run(
      `update schedules set next_at = ?, paused = ?, last_at = ?, last_run = ?, due_at = ?, revision = revision + 1
       where ${keyMatches}`,
      ...[...columns, dueAt, key.tenant, key.owner, key.id],
    )
    return true
  }

  /** Returns the row, unless an erasure has begun that has not reached it yet. */
  #current(key: ScheduleKey): Row | undefined {
    const { db, erasures } = this.#parts
    const row = db.get(`select * from schedules where ${keyMatches}`, key.tenant, key.owner, key.id)
    const erasure = row && erasures.latest({ tenant: key.tenant, owner: key.owner })
    return erasure !== undefined && Number(row?.token) < erasure.token ? undefined : row
  }
}

const isSamePlan = 'schedules.cron = excluded.cron and schedules.tz = excluded.tz'
const keeps = (column: string) =>
  `case when paused is not null then null when ${isSamePlan} then schedules.${column} else excluded.${column} end`

const putSchedule = `
  insert into schedules (tenant, owner, id, agent, cron, tz, missed, session, request, next_at, due_at, token)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict do update set agent = excluded.agent, cron = excluded.cron, tz = excluded.tz, missed = excluded.missed,
    session = excluded.session, request = excluded.request, next_at = ${keeps('next_at')}, due_at = ${keeps('due_at')},
    revision = revision + 1, token = excluded.token
  returning *`

const claimDue = `
  update schedules set due_at = ? where (tenant, owner, id) in (
    select tenant, owner, id from schedules where ${isOneOf} and due_at <= ? and not exists (
      select 1 from runs r where r.tenant = schedules.tenant and r.run = schedules.last_run and r.status in ('queued', 'running')
    ) order by due_at limit ?
  ) returning *`
