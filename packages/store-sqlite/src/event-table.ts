import { type EventTable, month, type RunHead, sessionKeyParts, toBytes } from '@allium/store-sql'
import type { Row } from './database.ts'
import { type EventRunRow, EventRuns } from './event-runs.ts'
import type { StoreParts } from './session-lists.ts'

/** Batches per read. */
const pageSize = 64

/** Events of runs in a SQLite file. */
export function sqliteEvents({ db, clock, erasures, leases, blobTable }: StoreParts, eventTtl: number): EventTable {
  const runs = new EventRuns(db, () => ({ ended: clock.now() - eventTtl, abandoned: clock.now() - month }))
  const pendingSignals = (run: number) =>
    db.all('select n, id, body from event_signals where run = ? and dealt = 0 order by n', run).map(signalFromRow)

  return {
    async append(run, epoch, batch, { end, mustExist, by, write }) {
      return db.writeInGroup(() => {
        const now = clock.now()
        const existing = runs.find(run)
        if (existing === undefined && (mustExist || erasures.isFenced(run.key, by, leases))) return { fenced: 'gone' }
        const eventRun = existing ?? runs.open(run, epoch, now, erasures.writerToken(run.key, by, leases))
        if (epoch < eventRun.epoch) return { fenced: 'taken' }
        if (epoch === eventRun.epoch && eventRun.ended) return { fenced: 'ended' }
        const { lastSignal, listener } = eventRun
        // A new row has all of this already.
        if (existing === undefined && batch === undefined && !end) return { seq: eventRun.seq, lastSignal, listener }
        const undelivered = end && lastSignal > 0 ? pendingSignals(eventRun.run).filter(({ id }) => id !== null) : []
        if (end && lastSignal > 0) db.run('delete from event_signals where run = ? and id is null', eventRun.run)
        const endsNow = end && undelivered.length === 0
        const count = undelivered.length > 0 ? 0 : (batch?.count ?? 0)
        if (batch !== undefined && count > 0)
          db.run(
            'insert into events values (?, ?, ?, ?, ?)',
            eventRun.run,
            eventRun.seq + 1,
            count,
            batch.id,
            batch.body,
          )
        if (count > 0) blobTable.assignHolder(run.key, 'event', run.turnId, write)
        db.run(
          'update event_runs set epoch = ?, seq = ?, ended_at = ?, touched_at = ? where run = ?',
          ...[epoch, eventRun.seq + count, endsNow ? now : null, now, eventRun.run],
        )
        if (endsNow) runs.deleteExpired(now)
        return undelivered.length > 0 ? { undelivered } : { seq: eventRun.seq + count, lastSignal, listener }
      })
    },
    async batches(run, after) {
      const eventRun = runs.find(run)
      if (eventRun === undefined) return []
      return db
        .all(
          'select * from events where run = ? and first + count > ? order by first limit ?',
          eventRun.run,
          after + 1,
          pageSize,
        )
        .map((row) => ({
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
        db.run('update event_runs set asked = ? where run = ?', n, eventRun.run)
        return true
      })
    },
    async listen(run) {
      return db.writeInGroup(() => {
        const eventRun = runs.find(run)
        if (eventRun === undefined) return undefined
        db.run('update event_runs set listener = listener + 1 where run = ?', eventRun.run)
        return eventRun.listener + 1
      })
    },
    async signals(run, after) {
      const eventRun = runs.find(run)
      return eventRun === undefined ? [] : pendingSignals(eventRun.run).filter(({ n }) => n > after)
    },
    async acknowledgeAtEnd(run, epoch, ns) {
      return db.writeInGroup(() => {
        const eventRun = runs.find(run)
        if (eventRun === undefined || epoch < eventRun.epoch) return false
        const sql = 'update event_signals set dealt = 1, body = null where run = ? and n = ?'
        for (const n of ns) db.run(sql, eventRun.run, n)
        return true
      })
    },
    async acknowledge(run, listener, n) {
      await db.writeInGroup(() => {
        const eventRun = runs.find(run)
        if (eventRun === undefined || eventRun.listener !== listener) return
        db.run('delete from event_signals where run = ? and n = ? and id is null', eventRun.run, n)
        db.run('update event_signals set dealt = 1, body = null where run = ? and n = ?', eventRun.run, n)
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

function signalFromRow(row: Row) {
  return { n: Number(row.n), id: row.id as string | null, body: row.body === null ? null : toBytes(row.body) }
}
