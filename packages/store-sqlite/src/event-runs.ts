import type { EventScope, LatestRun, RunKey } from '@allium/store'
import { runKeyParts } from '@allium/store-sql'
import type { Database, Row, Value } from './database.ts'

export interface EventRunRow {
  readonly run: number
  readonly turnId: string
  readonly epoch: number
  readonly seq: number
  readonly lastSignal: number
  readonly listener: number
  readonly ended: boolean
}

/** Times before which runs expire: ended runs, and runs whose process never came back. */
type ExpiryBounds = () => { ended: number; abandoned: number }

const callsPerDeletion = 100
const longestInterval = 60_000

const isLive = '(ended_at is null and touched_at > ? or ended_at > ?)'

/** The runs whose events are stored. */
export class EventRuns {
  readonly #db: Database
  readonly #expiryBounds: ExpiryBounds
  #callsUntilDeletion = 0
  #deletedAt = 0

  constructor(db: Database, bounds: ExpiryBounds) {
    this.#db = db
    this.#expiryBounds = bounds
  }

  find(run: RunKey): EventRunRow | undefined {
    const row = this.#db.get(
      `select * from event_runs where tenant = ? and owner = ? and agent = ? and session = ? and turn_id = ? and ${isLive}`,
      ...[...runKeyParts(run), ...this.#liveParams()],
    )
    return row && eventRunFromRow(row)
  }

  /** Replaces an earlier run of the same name. */
  open(run: RunKey, epoch: number, now: number, token: number): EventRunRow {
    const isSameName = 'tenant = ? and owner = ? and agent = ? and session = ? and turn_id = ?'
    const expired = this.#db.get(`select 1 from event_runs where ${isSameName}`, ...runKeyParts(run))
    if (expired !== undefined) this.deleteWhere(isSameName, ...runKeyParts(run))
    const row = this.#db.get(
      `insert into event_runs (tenant, owner, agent, session, turn_id, epoch, touched_at, token)
       values (?, ?, ?, ?, ?, ?, ?, ?) returning *`,
      ...[...runKeyParts(run), epoch, now, token],
    )
    return eventRunFromRow(row as Row)
  }

  latest(session: readonly string[]): LatestRun | undefined {
    const row = this.#db.get(
      `select * from event_runs where tenant = ? and owner = ? and agent = ? and session = ?
       and ${isLive} order by run desc limit 1`,
      ...[...session, ...this.#liveParams()],
    )
    if (row === undefined) return undefined
    const { turnId, seq, ended } = eventRunFromRow(row)
    return { turnId, seq, ended }
  }

  /** Deletes some expired runs, at most once a minute or in a hundred calls. They are never found, so this only frees their space. */
  deleteExpired(now: number): void {
    const { ended, abandoned } = this.#expiryBounds()
    const interval = Math.min(longestInterval, (now - ended) / 2)
    if (this.#callsUntilDeletion-- > 0 && now - this.#deletedAt < interval) return
    this.#callsUntilDeletion = callsPerDeletion
    this.#deletedAt = now
    const isExpired = 'ended_at <= ? or ended_at is null and touched_at <= ?'
    this.deleteWhere(
      `run in (select run from event_runs where ${isExpired} limit ${2 * callsPerDeletion})`,
      ended,
      abandoned,
    )
  }

  delete(scope: EventScope): void {
    const [agent, session] = 'sessionId' in scope ? [scope.agent, scope.sessionId] : [null, null]
    const condition =
      'tenant = ? and (? is null or owner = ?) and (? is null or agent = ?) and (? is null or session = ?)'
    this.deleteWhere(condition, scope.tenant, scope.owner ?? null, scope.owner ?? null, agent, agent, session, session)
  }

  deleteWhere(condition: string, ...values: Value[]): void {
    for (const table of ['events', 'event_signals'])
      this.#db.run(`delete from ${table} where run in (select run from event_runs where ${condition})`, ...values)
    this.#db.run(`delete from event_runs where ${condition}`, ...values)
  }

  #liveParams(): [number, number] {
    const { ended, abandoned } = this.#expiryBounds()
    return [abandoned, ended]
  }
}

function eventRunFromRow(row: Row): EventRunRow {
  return {
    run: Number(row.run),
    turnId: String(row.turn_id),
    epoch: Number(row.epoch),
    seq: Number(row.seq),
    lastSignal: Number(row.asked),
    listener: Number(row.listener),
    ended: row.ended_at !== null,
  }
}
