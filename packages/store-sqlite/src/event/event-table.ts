import { type EventTable, month, type RunHead, sessionKeyParts, toBytes } from '@allium/store-sql'
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
export function sqliteEvents(parts: StoreParts, eventTtl: number): EventTable {
  const { db, clock } = parts
  const runs = new EventRuns(db, () => ({ ended: clock.now() - eventTtl, abandoned: clock.now() - month }))
  const appender = new EventAppender(parts, runs)

  return {
    async append(run, epoch, batch, options) {
      return db.writeUnsynced(() => appender.append({ run, epoch, batch, ...options }))
    },
    async batches(run, after) {
      const eventRun = runs.find(run)
      if (eventRun === undefined) return []
      return db.all(batchesAfter, eventRun.run, after + 1, pageSize).map((row) => ({
        first: Number(row.first),
        count: Number(row.count),
        id: String(row.id),
        body: toBytes(row.body),
      }))
    },
    async heads(keys) {
      return keys.map((run) => headOf(runs.find(run)))
    },
    async latest(key) {
      return runs.latest(sessionKeyParts(key))
    },
    async addSignal(run, id, body) {
      return db.writeInGroup(() => {
        const eventRun = runs.find(run)
        if (eventRun === undefined || eventRun.ended) return false
        const existing =
          id === null
            ? db.get('select 1 from event_signals where run = ? and id is null', eventRun.run)
            : db.get('select 1 from event_signals where run = ? and id = ?', eventRun.run, id)
        if (existing !== undefined) return true
        const n = eventRun.lastSignal + 1
        db.run('insert into event_signals (run, n, id, body) values (?, ?, ?, ?)', eventRun.run, n, id, body)
        db.run('update event_runs set last_signal = ? where run = ?', n, eventRun.run)
        return true
      })
    },
    async listen(run) {
      return db.writeUnsynced(() => {
        const eventRun = runs.find(run)
        if (eventRun === undefined) return undefined
        db.run('update event_runs set listener = listener + 1 where run = ?', eventRun.run)
        return eventRun.listener + 1
      })
    },
    async signals(run, after) {
      const eventRun = runs.find(run)
      return eventRun === undefined ? [] : runs.pendingSignals(eventRun.run).filter(({ n }) => n > after)
    },
    async acknowledgeAtEnd(run, epoch, ns) {
      return db.writeInGroup(() => {
        const eventRun = runs.find(run)
        if (eventRun === undefined || epoch < eventRun.epoch) return false
        const sql = 'update event_signals set acknowledged = 1, body = null where run = ? and n = ?'
        for (const n of ns) db.run(sql, eventRun.run, n)
        return true
      })
    },
    async acknowledge(run, listener, n) {
      await db.writeUnsynced(() => {
        const eventRun = runs.find(run)
        if (eventRun === undefined || eventRun.listener !== listener) return
        db.run('delete from event_signals where run = ? and n = ? and id is null', eventRun.run, n)
        db.run('update event_signals set acknowledged = 1, body = null where run = ? and n = ?', eventRun.run, n)
      })
    },
    async delete(of) {
      await db.writeInGroup(() => runs.delete(of))
    },
  }
}

function headOf(row: EventRunRow | undefined): RunHead | undefined {
  return row && { seq: row.seq, ended: row.ended, lastSignal: row.lastSignal, listener: row.listener }
}
