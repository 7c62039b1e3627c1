import type { EventScope, LatestRun, RunKey } from '@allium/store'
import { runKeyParts, type StoredSignal, toBytes } from '@allium/store-sql'
import type { Database, Row, Value } from '../database/database.ts'

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
const isNamed = 'tenant = ? and owner = ? and agent = ? and session = ? and turn_id = ?'

/** A run without a token gets the newest one, unless there are erasures, which its writer may be older than. */
const insertRun = `
  insert into event_runs (tenant, owner, agent, session, turn_id, epoch, touched_at, token, listener)
  select ?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce(?8, value), 1 from counters
  where name = 'token' and (?8 is not null or not exists (select 1 from erasures)) on conflict do nothing returning *`

interface NewRun {
  readonly epoch: number
  readonly now: number
  readonly token?: number
}

/** An append to a run that exists. */
interface Advance {
  readonly epoch: number
  /** The number of its events. */
  readonly count: number
  readonly end: boolean
  readonly now: number
  /** The last signal that may be stored when the run ends. */
  readonly lastSignal: number
}

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
      `select * from event_runs where ${isNamed} and ${isLive}`,
      ...[...runKeyParts(run), ...this.#liveParams()],
    )
    return row && eventRunFromRow(row)
  }

  /** Adds a new run, whose first listener is this process. Returns undefined if the run exists, or if it has no token and there are erasures. */
  add(run: RunKey, { epoch, now, token }: NewRun): EventRunRow | undefined {
    const row = this.#db.get(insertRun, ...runKeyParts(run), epoch, now, token ?? null)
    return row && eventRunFromRow(row)
  }

  /** Adds a new run, in place of an expired one. Returns undefined if the run exists. */
  open(run: RunKey, opening: NewRun): EventRunRow | undefined {
    const added = this.add(run, opening)
    if (added !== undefined || this.find(run) !== undefined) return added
    this.deleteWhere(isNamed, ...runKeyParts(run))
    return this.add(run, opening)
  }

  /** Counts the events of an append. Returns undefined if it was not appended: for the reason, find the run. */
  advance(run: RunKey, { epoch, count, end, now, lastSignal }: Advance): EventRunRow | undefined {
    const row = this.#db.get(
      `update event_runs set epoch = ?1, seq = seq + ?2, ended_at = iif(?3, ?4, null), touched_at = ?4
       where tenant = ?5 and owner = ?6 and agent = ?7 and session = ?8 and turn_id = ?9
       and (ended_at is null and touched_at > ?10 or ended_at > ?11)
       and epoch <= ?1 and (epoch < ?1 or ended_at is null) and (not ?3 or last_signal <= ?12) returning *`,
      ...[epoch, count, end ? 1 : 0, now, ...runKeyParts(run), ...this.#liveParams(), lastSignal],
    )
    return row && eventRunFromRow(row)
  }

  /** Whether a signal with this id was stored before; null is the id of a stop. */
  hasSignal(run: number, id: string | null): boolean {
    const isSame = id === null ? 'id is null' : 'id = ?'
    const sql = `select 1 from event_signals where run = ? and ${isSame}`
    return this.#db.get(sql, run, ...(id === null ? [] : [id])) !== undefined
  }

  addSignal({ run, lastSignal }: EventRunRow, id: string | null, body: Uint8Array | null): void {
    const n = lastSignal + 1
    this.#db.run('insert into event_signals (run, n, id, body) values (?, ?, ?, ?)', run, n, id, body)
    this.#db.run('update event_runs set last_signal = ? where run = ?', n, run)
  }

  pendingSignals(run: number): StoredSignal[] {
    return this.#db
      .all('select n, id, body from event_signals where run = ? and acknowledged = 0 order by n', run)
      .map(({ n, id, body }) => ({
        n: Number(n),
        id: id as string | null,
        body: body === null ? null : toBytes(body),
      }))
  }

  /** Returns the undelivered steers of a run that ends, and deletes its stops. */
  undeliveredAtEnd({ run, lastSignal }: EventRunRow): StoredSignal[] {
    if (lastSignal === 0) return []
    const steers = this.pendingSignals(run).filter(({ id }) => id !== null)
    this.#db.run('delete from event_signals where run = ? and id is null', run)
    return steers
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

  /** A trigger deletes the events and signals of the runs. */
  deleteWhere(condition: string, ...values: Value[]): void {
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
    lastSignal: Number(row.last_signal),
    listener: Number(row.listener),
    ended: row.ended_at !== null,
  }
}
