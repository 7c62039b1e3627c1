import type { SessionKey } from '@allium/core'
import type { EventScope, LatestRun, RunKey } from '@allium/store'
import {
  type AppendOutcome,
  type EventTable,
  month,
  type RunHead,
  type StoredBatch,
  type StoredSignal,
  sessionKeyParts,
  toBytes,
} from '@allium/store-sql'
import type { Database, Row } from '../database/database.ts'
import { ofRun } from '../schema/events.ts'
import type { StoreParts } from '../store-parts.ts'
import { EventAppender } from './event-appender.ts'
import { type EventRunRow, EventRuns } from './event-runs.ts'

/** Batches per read. */
const pageSize = 64

/** Begins at the batch with the event that is read first, so that it skips earlier batches of the run without reading them. */
const batchesAfter = `
  select place & 4294967295 as first, count, id, body from events
  where ${ofRun} and place >= (select coalesce(max(place), ?1 << 32) from events where place between ?1 << 32 and ?1 << 32 | ?2)
  and (place & 4294967295) + count > ?2 order by place limit ?3`

/** Events of runs in a SQLite file. */
export class SqliteEvents implements EventTable {
  readonly #db: Database
  readonly #runs: EventRuns
  readonly #appender: EventAppender

  constructor(parts: StoreParts, eventRetention: number) {
    const { db, clock } = parts
    this.#db = db
    this.#runs = new EventRuns(db, () => ({ ended: clock.now() - eventRetention, abandoned: clock.now() - month }))
    this.#appender = new EventAppender(parts, this.#runs)
  }

  async append(...[run, epoch, batch, options]: Parameters<EventTable['append']>): Promise<AppendOutcome> {
    return this.#db.writeUnsynced(() => this.#appender.append({ run, epoch, batch, ...options }))
  }

  async batches(run: RunKey, after: number): Promise<StoredBatch[]> {
    const eventRun = this.#runs.find(run)
    if (eventRun === undefined) return []
    return this.#db.all(batchesAfter, eventRun.run, after + 1, pageSize).map(batchFromRow)
  }

  async heads(runs: readonly RunKey[]): Promise<(RunHead | undefined)[]> {
    return runs.map((run) => headOf(this.#runs.find(run)))
  }

  async latest(key: SessionKey): Promise<LatestRun | undefined> {
    return this.#runs.latest(sessionKeyParts(key))
  }

  addSignal(run: RunKey, id: string | null, body: Uint8Array | null): Promise<boolean> {
    return this.#db.writeInGroup(() => {
      const eventRun = this.#runs.find(run)
      if (eventRun === undefined || eventRun.ended) return false
      if (!this.#runs.hasSignal(eventRun.run, id)) this.#runs.addSignal(eventRun, id, body)
      return true
    })
  }

  listen(run: RunKey): Promise<number | undefined> {
    return this.#db.writeUnsynced(() => {
      const eventRun = this.#runs.find(run)
      if (eventRun === undefined) return undefined
      this.#db.run('update event_runs set listener = listener + 1 where run = ?', eventRun.run)
      return eventRun.listener + 1
    })
  }

  async signals(run: RunKey, after: number): Promise<StoredSignal[]> {
    const eventRun = this.#runs.find(run)
    return eventRun === undefined ? [] : this.#runs.pendingSignals(eventRun.run).filter(({ n }) => n > after)
  }

  acknowledgeAtEnd(run: RunKey, epoch: number, ns: readonly number[]): Promise<boolean> {
    return this.#db.writeInGroup(() => {
      const eventRun = this.#runs.find(run)
      if (eventRun === undefined || epoch < eventRun.epoch) return false
      for (const n of ns) this.#db.run(acknowledgeSignal, eventRun.run, n)
      return true
    })
  }

  acknowledge(run: RunKey, listener: number, n: number): Promise<void> {
    return this.#db.writeUnsynced(() => {
      const eventRun = this.#runs.find(run)
      if (eventRun === undefined || eventRun.listener !== listener) return
      this.#db.run('delete from event_signals where run = ? and n = ? and id is null', eventRun.run, n)
      this.#db.run(acknowledgeSignal, eventRun.run, n)
    })
  }

  delete(scope: EventScope): Promise<void> {
    return this.#db.writeInGroup(() => this.#runs.delete(scope))
  }
}

/** The id stays, so that a signal that is sent again is not stored again. */
const acknowledgeSignal = 'update event_signals set acknowledged = 1, body = null where run = ? and n = ?'

function batchFromRow({ first, count, id, body }: Row): StoredBatch {
  return { first: Number(first), count: Number(count), id: String(id), body: toBytes(body) }
}

function headOf(row: EventRunRow | undefined): RunHead | undefined {
  return row && { seq: row.seq, ended: row.ended, lastSignal: row.lastSignal, listener: row.listener }
}
