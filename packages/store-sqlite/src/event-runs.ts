import type { EventScope, LatestRun, RunKey } from '@allium/core'
import { partsOf } from '@allium/store-sql'
import type { Database, Row, Value } from './database.ts'

export interface RunRow {
  readonly run: number
  readonly turnId: string
  readonly epoch: number
  readonly seq: number
  readonly asked: number
  readonly listener: number
  readonly ended: boolean
}

/** Times before which runs are forgotten: that have ended, or whose process never came back. */
type Bounds = () => { ended: number; left: number }

const live = '(ended_at is null and touched_at > ? or ended_at > ?)'

/** The runs whose events are kept. */
export class SqliteRuns {
  readonly #db: Database
  readonly #bounds: Bounds

  constructor(db: Database, bounds: Bounds) {
    this.#db = db
    this.#bounds = bounds
  }

  find(run: RunKey): RunRow | undefined {
    const row = this.#db.get(
      `select * from event_runs where tenant = ? and owner = ? and agent = ? and session = ? and turn_id = ? and ${live}`,
      ...[...partsOf(run), ...this.#live()],
    )
    return row && rowOf(row)
  }

  /** What was kept under its name is over. */
  open(run: RunKey, epoch: number, now: number, token: number): RunRow {
    this.forget('tenant = ? and owner = ? and agent = ? and session = ? and turn_id = ?', ...partsOf(run))
    const row = this.#db.get(
      `insert into event_runs (tenant, owner, agent, session, turn_id, epoch, touched_at, token)
       values (?, ?, ?, ?, ?, ?, ?, ?) returning *`,
      ...[...partsOf(run), epoch, now, token],
    )
    return rowOf(row as Row)
  }

  latest(session: readonly string[]): LatestRun | undefined {
    const row = this.#db.get(
      `select * from event_runs where tenant = ? and owner = ? and agent = ? and session = ?
       and ${live} order by run desc limit 1`,
      ...[...session, ...this.#live()],
    )
    if (row === undefined) return undefined
    const { turnId, seq, ended } = rowOf(row)
    return { turnId, seq, ended }
  }

  /** Some of those whose time is over. */
  forgetOld(): void {
    const { ended, left } = this.#bounds()
    const old = 'ended_at <= ? or ended_at is null and touched_at <= ?'
    this.forget(`run in (select run from event_runs where ${old} limit 100)`, ended, left)
  }

  delete(of: EventScope): void {
    const [agent, session] = 'sessionId' in of ? [of.agent, of.sessionId] : [null, null]
    const which = 'tenant = ? and (? is null or owner = ?) and (? is null or agent = ?) and (? is null or session = ?)'
    this.forget(which, of.tenant, of.owner ?? null, of.owner ?? null, agent, agent, session, session)
  }

  forget(which: string, ...values: Value[]): void {
    for (const table of ['events', 'event_signals'])
      this.#db.run(`delete from ${table} where run in (select run from event_runs where ${which})`, ...values)
    this.#db.run(`delete from event_runs where ${which}`, ...values)
  }

  #live(): [number, number] {
    const { ended, left } = this.#bounds()
    return [left, ended]
  }
}

function rowOf(row: Row): RunRow {
  return {
    run: Number(row.run),
    turnId: String(row.turn_id),
    epoch: Number(row.epoch),
    seq: Number(row.seq),
    asked: Number(row.asked),
    listener: Number(row.listener),
    ended: row.ended_at !== null,
  }
}
