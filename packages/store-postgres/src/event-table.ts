import type { RunKey } from '@allium/core'
import {
  type AskedSignal,
  bytesOf,
  checkRun,
  checkTogether,
  type EventTable,
  partsOf,
  type RunHead,
  sessionParts,
} from '@allium/store-sql'
import { fencedWithout } from './blobs.ts'
import type { Database, Row } from './database.ts'
import { isKept } from './functions-events.ts'
import { since } from './leases.ts'
import { checkedKey } from './names.ts'

/** Batches that a reader gets at a time. */
const most = 64

const ofRun = 'r.tenant = $1 and r.owner = $2 and r.agent = $3 and r.session = $4 and r.turn_id = $5'

/** Events of runs in Postgres: one statement for each operation, and nothing that a connection has to keep. */
export function postgresEvents(db: Database, eventTtl: number): EventTable {
  const kept = (ttl: string) => isKept(ttl).replaceAll('{s}', db.s)
  return {
    async append(run, epoch, batch, { end, mustExist, request, by, write }) {
      const { id = null, count = 0, body = null } = batch ?? {}
      // The row stays locked until the events stand in it: nobody deletes the run in between.
      const there = `(select r.turn_id from ${db.s}.event_runs r where ${ofRun} and ${kept('$12')} for update) there, `
      const [from, turnId] = mustExist ? [there, 'there.turn_id'] : ['', '$5']
      const keep =
        write &&
        `, case when a.outcome_ = 'appended' then ${db.s}.keep_blobs($1, $2, $3, $4, 'event', $5, $15, $16) end`
      const appended = db.repeatable(
        `select a.*${keep ?? ''} from ${from}${db.s}.append_to_run($1, $2, $3, $4, ${turnId}, $6, $7, $8, $9, $10, $11, $12, $13, $14) a`,
        ...[...partsOf(run), epoch, request, id, count, body, end, eventTtl, ...(await since(db, by))],
        ...(write === undefined ? [] : [write.id, write.digests]),
      )
      const [row] = await fencedWithout(run.key, appended)
      if (row === undefined) return { fenced: 'gone' }
      const outcome = row.outcome_
      if (outcome === 'taken' || outcome === 'ended' || outcome === 'gone') return { fenced: outcome }
      if (outcome === 'unheard') return { unheard: unheardIn(row) }
      return { seq: Number(row.seq_) }
    },
    async batches(run, after) {
      const rows = await db.repeatable(
        `select e.* from ${db.s}.event_runs r join ${db.s}.events e on e.run = r.run
         where ${ofRun} and ${kept('$6')} and e.first + e.count > $7 order by e.first limit ${most}`,
        ...[...partsOf(run), eventTtl, after + 1],
      )
      return rows.map((row) => ({
        first: Number(row.first),
        count: Number(row.count),
        id: String(row.id),
        body: bytesOf(row.body),
      }))
    },
    async heads(runs) {
      const columns = [0, 1, 2, 3, 4].map((i) => runs.map((run) => partsOf(run)[i]))
      const rows = await db.repeatable(
        `select k.place, r.seq, r.asked, r.listener, r.ended_at
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
         with ordinality as k (tenant, owner, agent, session, turn_id, place)
         join ${db.s}.event_runs r
         on r.tenant = k.tenant and r.owner = k.owner and r.agent = k.agent and r.session = k.session and r.turn_id = k.turn_id
         where ${kept('$6')}`,
        ...[...columns, eventTtl],
      )
      const found = new Map(rows.map((row) => [Number(row.place), headOf(row)]))
      return runs.map((_, i) => found.get(i + 1))
    },
    async latest(key) {
      const [row] = await db.repeatable(
        `select r.turn_id, r.seq, r.ended_at from ${db.s}.event_runs r
         where r.tenant = $1 and r.owner = $2 and r.agent = $3 and r.session = $4 and ${kept('$5')} order by r.run desc limit 1`,
        ...[...sessionParts(checkedKey(key)), eventTtl],
      )
      return row && { turnId: String(row.turn_id), seq: Number(row.seq), ended: row.ended_at !== null }
    },
    async ask(run, id, body) {
      const sql = `select ${db.s}.ask_run($1, $2, $3, $4, $5, $6, $7, $8) as kept`
      const [row] = await db.repeatable(sql, ...partsOf(run), eventTtl, id, body)
      return row?.kept === true
    },
    async listen(run) {
      const [row] = await db.repeatable(
        `update ${db.s}.event_runs r set listener = r.listener + 1 where ${ofRun} and ${kept('$6')} returning r.listener`,
        ...[...partsOf(run), eventTtl],
      )
      return row && Number(row.listener)
    },
    async asked(run, after) {
      const rows = await db.repeatable(
        `select g.n, g.id, g.body from ${db.s}.event_runs r join ${db.s}.event_signals g on g.run = r.run
         where ${ofRun} and not g.dealt and g.n > $6 order by g.n`,
        ...[...partsOf(run), after],
      )
      return rows.map(askedOf)
    },
    async take(run, epoch, ns) {
      const sql = `select ${db.s}.take_signals($1, $2, $3, $4, $5, $6, $7) as taken`
      const [row] = await db.repeatable(sql, ...partsOf(run), epoch, ns)
      return row?.taken === true
    },
    async deal(run, listener, n) {
      await db.repeatable(`select ${db.s}.deal_signal($1, $2, $3, $4, $5, $6, $7)`, ...partsOf(run), listener, n)
    },
    async delete(of) {
      const [agent, session] = 'sessionId' in of ? [of.agent, of.sessionId] : [null, null]
      await db.repeatable(
        `delete from ${db.s}.event_runs where tenant = $1 and ($2::text is null or owner = $2)
         and ($3::text is null or agent = $3) and ($4::text is null or session = $4)`,
        ...[of.tenant, of.owner ?? null, agent, session],
      )
    },
  }
}

/** @throws AlliumError `store.key` where an index has no room for the run's names */
export function checkedRun(given: RunKey): RunKey {
  const run = checkRun(given)
  checkTogether('tenant, owner, agent, session id and id of the run', partsOf(run))
  return run
}

function headOf(row: Row): RunHead {
  const { seq, asked, listener, ended_at } = row
  return { seq: Number(seq), asked: Number(asked), listener: Number(listener), ended: ended_at !== null }
}

function unheardIn({ ns_, ids_, bodies_ }: Row): AskedSignal[] {
  const [ids, bodies] = [ids_ as string[], bodies_ as Uint8Array[]]
  return (ns_ as number[]).map((n, i) => askedOf({ n, id: ids[i], body: bodies[i] }))
}

function askedOf({ n, id, body }: Row): AskedSignal {
  return { n: Number(n), id: (id ?? null) as string | null, body: body === null ? null : bytesOf(body) }
}
