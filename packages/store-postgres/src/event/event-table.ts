import type { RunKey } from '@allium/store'
import {
  checkRun,
  type EventTable,
  type RunHead,
  runKeyParts,
  type StoredSignal,
  sessionKeyParts,
  toBytes,
} from '@allium/store-sql'
import { translateLostBlobs } from '../blob/blobs.ts'
import { checkCombinedLength } from '../database/combined-length.ts'
import type { Database, Row } from '../database/database.ts'
import { checkSessionKey } from '../database/keys.ts'
import { writerSince } from '../lease/leases.ts'
import { isRetained } from '../schema/events.ts'

/** Batches per read. */
const pageSize = 64

const runMatches = 'r.tenant = $1 and r.owner = $2 and r.agent = $3 and r.session = $4 and r.turn_id = $5'

/** Events of runs in Postgres. Each operation is one statement, and no connection keeps any state. */
export function postgresEvents(db: Database, eventTtl: number): EventTable {
  const isRetainedIn = (ttl: string) => isRetained(ttl).replaceAll('{s}', db.s)
  return {
    async append(run, epoch, batch, { end, mustExist, request, by, write }) {
      const { id = null, count = 0, body = null } = batch ?? {}
      // The row stays locked until its events are stored, so that the run is not deleted in between.
      const existingRun = `(select r.turn_id from ${db.s}.event_runs r where ${runMatches} and ${isRetainedIn('$12')} for update) there, `
      const [source, turnId] = mustExist ? [existingRun, 'there.turn_id'] : ['', '$5']
      const keep =
        write &&
        `, case when a.outcome_ = 'appended' then ${db.s}.keep_blobs($1, $2, $3, $4, 'event', $5, $15, $16) end`
      const appended = db.queryIdempotent(
        `select a.*${keep ?? ''} from ${source}${db.s}.append_to_run($1, $2, $3, $4, ${turnId}, $6, $7, $8, $9, $10, $11, $12, $13, $14) a`,
        ...[...runKeyParts(run), epoch, request, id, count, body, end, eventTtl, ...(await writerSince(db, by))],
        ...(write === undefined ? [] : [write.id, write.digests]),
      )
      const [row] = await translateLostBlobs(run.key, appended)
      if (row === undefined) return { fenced: 'gone' }
      const outcome = row.outcome_
      if (outcome === 'taken' || outcome === 'ended' || outcome === 'gone') return { fenced: outcome }
      if (outcome === 'undelivered') return { undelivered: undeliveredSignals(row) }
      return { seq: Number(row.seq_) }
    },
    async batches(run, after) {
      const rows = await db.queryIdempotent(
        `select e.* from ${db.s}.event_runs r join ${db.s}.events e on e.run = r.run
         where ${runMatches} and ${isRetainedIn('$6')} and e.first + e.count > $7 order by e.first limit ${pageSize}`,
        ...[...runKeyParts(run), eventTtl, after + 1],
      )
      return rows.map((row) => ({
        first: Number(row.first),
        count: Number(row.count),
        id: String(row.id),
        body: toBytes(row.body),
      }))
    },
    async heads(runs) {
      const columns = [0, 1, 2, 3, 4].map((i) => runs.map((run) => runKeyParts(run)[i]))
      const rows = await db.queryIdempotent(
        `select k.place, r.seq, r.last_signal, r.listener, r.ended_at
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
         with ordinality as k (tenant, owner, agent, session, turn_id, place)
         join ${db.s}.event_runs r
         on r.tenant = k.tenant and r.owner = k.owner and r.agent = k.agent and r.session = k.session and r.turn_id = k.turn_id
         where ${isRetainedIn('$6')}`,
        ...[...columns, eventTtl],
      )
      const headsByIndex = new Map(rows.map((row) => [Number(row.place), headOf(row)]))
      return runs.map((_, i) => headsByIndex.get(i + 1))
    },
    async latest(key) {
      const [row] = await db.queryIdempotent(
        `select r.turn_id, r.seq, r.ended_at from ${db.s}.event_runs r
         where r.tenant = $1 and r.owner = $2 and r.agent = $3 and r.session = $4 and ${isRetainedIn('$5')} order by r.run desc limit 1`,
        ...[...sessionKeyParts(checkSessionKey(key)), eventTtl],
      )
      return row && { turnId: String(row.turn_id), seq: Number(row.seq), ended: row.ended_at !== null }
    },
    async addSignal(run, id, body) {
      const sql = `select ${db.s}.add_signal($1, $2, $3, $4, $5, $6, $7, $8) as kept`
      const [row] = await db.queryIdempotent(sql, ...runKeyParts(run), eventTtl, id, body)
      return row?.kept === true
    },
    async listen(run) {
      const [row] = await db.queryIdempotent(
        `update ${db.s}.event_runs r set listener = r.listener + 1 where ${runMatches} and ${isRetainedIn('$6')} returning r.listener`,
        ...[...runKeyParts(run), eventTtl],
      )
      return row && Number(row.listener)
    },
    async signals(run, after) {
      const rows = await db.queryIdempotent(
        `select g.n, g.id, g.body from ${db.s}.event_runs r join ${db.s}.event_signals g on g.run = r.run
         where ${runMatches} and not g.acknowledged and g.n > $6 order by g.n`,
        ...[...runKeyParts(run), after],
      )
      return rows.map(signalFromRow)
    },
    async acknowledgeAtEnd(run, epoch, ns) {
      const sql = `select ${db.s}.acknowledge_at_end($1, $2, $3, $4, $5, $6, $7) as taken`
      const [row] = await db.queryIdempotent(sql, ...runKeyParts(run), epoch, ns)
      return row?.taken === true
    },
    async acknowledge(run, listener, n) {
      await db.queryIdempotent(
        `select ${db.s}.acknowledge_signal($1, $2, $3, $4, $5, $6, $7)`,
        ...runKeyParts(run),
        listener,
        n,
      )
    },
    async delete(scope) {
      const [agent, session] = 'sessionId' in scope ? [scope.agent, scope.sessionId] : [null, null]
      await db.queryIdempotent(
        `delete from ${db.s}.event_runs where tenant = $1 and ($2::text is null or owner = $2)
         and ($3::text is null or agent = $3) and ($4::text is null or session = $4)`,
        ...[scope.tenant, scope.owner ?? null, agent, session],
      )
    },
  }
}

/** @throws AlliumError `store.key` when the run's names are too long for an index */
export function checkRunKey(input: RunKey): RunKey {
  const run = checkRun(input)
  checkCombinedLength('tenant, owner, agent, session id and id of the run', runKeyParts(run))
  return run
}

function headOf(row: Row): RunHead {
  const { seq, last_signal, listener, ended_at } = row
  return { seq: Number(seq), lastSignal: Number(last_signal), listener: Number(listener), ended: ended_at !== null }
}

function undeliveredSignals({ ns_, ids_, bodies_ }: Row): StoredSignal[] {
  const [ids, bodies] = [ids_ as string[], bodies_ as Uint8Array[]]
  return (ns_ as number[]).map((n, i) => signalFromRow({ n, id: ids[i], body: bodies[i] }))
}

function signalFromRow({ n, id, body }: Row): StoredSignal {
  return { n: Number(n), id: (id ?? null) as string | null, body: body === null ? null : toBytes(body) }
}
