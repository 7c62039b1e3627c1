import type { EventScope, LatestRun, RunKey } from '@allium/store'
import { runKeyParts, type StoredSignal, toBytes } from '@allium/store-sql'
import type { Database, Row, Value } from '../database/database.ts'

/** What an append returns about its run. */
export interface AppendedHead {
  readonly seq: number
  readonly lastSignal: number
  readonly listener: number
}

export interface EventRunRow extends AppendedHead {
  readonly run: number
  readonly turnId: string
  readonly epoch: number
  readonly ended: boolean
}

/** Times before which runs expire: ended runs, and runs whose process never came back. */
type ExpiryBounds = () => { ended: number; abandoned: number }

const callsPerDeletion = 100
const longestInterval = 60_000

const ofSession = 'tenant = ?1 and owner = ?2 and agent = ?3 and session = ?4'
const isNamed = `${ofSession} and turn_id = ?5`
const isLive = '(ended_at is null and touched_at > ?6 or ended_at > ?7)'

/** A run without a token gets the newest one, unless there are erasures, which its writer may be older than. */
const insertRun = `
  insert into event_runs (tenant, owner, agent, session, turn_id, epoch, touched_at, token, listener)
  select ?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce(?8, value), 1 from counters
  where name = 'token' and (?8 is not null or not exists (select 1 from erasures)) on conflict do nothing returning *`

/** A run that takes an append: its key, whether it is live, and the epoch. */
const takesAppend = `
  ${isNamed} and ${isLive} and epoch <= ?8 and (epoch < ?8 or ended_at is null) and (not ?9 or last_signal <= ?10)`

/** A trigger counts the events of the run. */
const insertBatch = `
  insert into events select run << 32 | seq + 1, ?12, ?13, ?14, run, ?8, ?11, ?9 from event_runs where ${takesAppend}
  returning (place & 4294967295) + count - 1 as seq,
  (select last_signal from event_runs r where r.run = events.run) as last_signal,
  (select listener from event_runs r where r.run = events.run) as listener`
const touchRun = `
  update event_runs set epoch = ?8, ended_at = iif(?9, ?11, null), touched_at = ?11 where ${takesAppend}
  returning seq, last_signal, listener`

interface NewRun {
  readonly epoch: number
  readonly now: number
  readonly token?: number
}

/** An append to a run that exists. */
interface Advance {
  readonly epoch: number
  readonly batch: { readonly count: number; readonly id: string; readonly body: Uint8Array } | undefined
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

  /** Appends a batch, or none. Returns undefined if the run does not take it: for the reason, find the run. */
  advance(run: RunKey, { epoch, batch, end, now, lastSignal }: Advance): AppendedHead | undefined {
    const values = [...runKeyParts(run), ...this.#liveParams(), epoch, end ? 1 : 0, lastSignal, now]
    const row = batch
      ? this.#db.get(insertBatch, ...values, batch.count, batch.id, batch.body)
      : this.#db.get(touchRun, ...values)
    return row && headFromRow(row)
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
      `select * from event_runs where ${ofSession} and ${isLive} order by run desc limit 1`,
      ...[...session, null, ...this.#liveParams()],
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
    ...headFromRow(row),
    run: Number(row.run),
    turnId: String(row.turn_id),
    epoch: Number(row.epoch),
    ended: row.ended_at !== null,
  }
}

function headFromRow({ seq, last_signal: lastSignal, listener }: Row): AppendedHead {
  return { seq: Number(seq), lastSignal: Number(lastSignal), listener: Number(listener) }
}
