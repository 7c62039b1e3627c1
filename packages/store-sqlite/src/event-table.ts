import { bytesOf, type EventTable, month, type RunHead, sessionParts } from '@allium/store-sql'
import type { Row } from './database.ts'
import { type RunRow, SqliteRuns } from './event-runs.ts'
import type { Parts } from './lists.ts'

/** Batches that a reader gets at a time. */
const most = 64

/** Events of runs in a SQLite file. */
export function sqliteEvents({ db, clock, erasures, leases, blobTable }: Parts, eventTtl: number): EventTable {
  const runs = new SqliteRuns(db, () => ({ ended: clock.now() - eventTtl, left: clock.now() - month }))
  const kept = (run: number) =>
    db.all('select n, id, body from event_signals where run = ? and dealt = 0 order by n', run).map(askedOf)

  return {
    async append(run, epoch, batch, { end, mustExist, by, write }) {
      return db.writeTogether(() => {
        const now = clock.now()
        const known = runs.find(run)
        if (known === undefined && (mustExist || erasures.fences(run.key, by, leases))) return { fenced: 'gone' }
        const found = known ?? runs.open(run, epoch, now, erasures.tokenOf(run.key, by, leases))
        if (epoch < found.epoch) return { fenced: 'taken' }
        if (epoch === found.epoch && found.ended) return { fenced: 'ended' }
        const unheard = end ? kept(found.run).filter(({ id }) => id !== null) : []
        if (end) db.run('delete from event_signals where run = ? and id is null', found.run)
        const isOver = end && unheard.length === 0
        const count = unheard.length > 0 ? 0 : (batch?.count ?? 0)
        if (batch !== undefined && count > 0)
          db.run('insert into events values (?, ?, ?, ?, ?)', found.run, found.seq + 1, count, batch.id, batch.body)
        if (count > 0) blobTable.keep(run.key, 'event', run.turnId, write)
        db.run(
          'update event_runs set epoch = ?, seq = ?, ended_at = ?, touched_at = ? where run = ?',
          ...[epoch, found.seq + count, isOver ? now : null, now, found.run],
        )
        if (isOver) runs.forgetOld()
        return unheard.length > 0 ? { unheard } : { seq: found.seq + count }
      })
    },
    async batches(run, after) {
      const found = runs.find(run)
      if (found === undefined) return []
      return db
        .all(
          'select * from events where run = ? and first + count > ? order by first limit ?',
          found.run,
          after + 1,
          most,
        )
        .map((row) => ({
          first: Number(row.first),
          count: Number(row.count),
          id: String(row.id),
          body: bytesOf(row.body),
        }))
    },
    async heads(keys) {
      return keys.map((run) => headOf(runs.find(run)))
    },
    async latest(key) {
      return runs.latest(sessionParts(key))
    },
    async ask(run, id, body) {
      return db.writeTogether(() => {
        const found = runs.find(run)
        if (found === undefined || found.ended) return false
        const known =
          id === null
            ? db.get('select 1 from event_signals where run = ? and id is null', found.run)
            : db.get('select 1 from event_signals where run = ? and id = ?', found.run, id)
        if (known !== undefined) return true
        const n = found.asked + 1
        db.run('insert into event_signals (run, n, id, body) values (?, ?, ?, ?)', found.run, n, id, body)
        db.run('update event_runs set asked = ? where run = ?', n, found.run)
        return true
      })
    },
    async listen(run) {
      return db.writeTogether(() => {
        const found = runs.find(run)
        if (found === undefined) return undefined
        db.run('update event_runs set listener = listener + 1 where run = ?', found.run)
        return found.listener + 1
      })
    },
    async asked(run, after) {
      const found = runs.find(run)
      return found === undefined ? [] : kept(found.run).filter(({ n }) => n > after)
    },
    async take(run, epoch, ns) {
      return db.writeTogether(() => {
        const found = runs.find(run)
        if (found === undefined || epoch < found.epoch) return false
        const sql = 'update event_signals set dealt = 1, body = null where run = ? and n = ?'
        for (const n of ns) db.run(sql, found.run, n)
        return true
      })
    },
    async deal(run, listener, n) {
      await db.writeTogether(() => {
        const found = runs.find(run)
        if (found === undefined || found.listener !== listener) return
        db.run('delete from event_signals where run = ? and n = ? and id is null', found.run, n)
        db.run('update event_signals set dealt = 1, body = null where run = ? and n = ?', found.run, n)
      })
    },
    async delete(of) {
      await db.writeTogether(() => runs.delete(of))
    },
  }
}

function headOf(row: RunRow | undefined): RunHead | undefined {
  return row && { seq: row.seq, ended: row.ended, asked: row.asked, listener: row.listener }
}

function askedOf(row: Row) {
  return { n: Number(row.n), id: row.id as string | null, body: row.body === null ? null : bytesOf(row.body) }
}
