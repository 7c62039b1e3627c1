import type { SessionKey } from '@allium/core'
import type { EventScope, LatestRun, RunKey } from '@allium/store'
import {
  type AppendOutcome,
  checkRun,
  type EventTable,
  type RunHead,
  runKeyParts,
  type StoredBatch,
  type StoredSignal,
  sessionKeyParts,
  toBytes,
} from '@allium/store-sql'
import { translateLostBlobs } from '../blob/blobs.ts'
import { checkCombinedLength } from '../database/combined-length.ts'
import { columnsOf, type Database, type Row } from '../database/database.ts'
import { checkSessionKey } from '../database/keys.ts'
import { writerSince } from '../lease/leases.ts'
import { isRetained } from '../schema/retention.ts'

/** Batches per read. */
const pageSize = 64

const runMatches = 'r.tenant = $1 and r.owner = $2 and r.agent = $3 and r.session = $4 and r.turn_id = $5'

/** Events of runs in Postgres. Each operation is one statement, and no connection keeps any state. */
export class PostgresEvents implements EventTable {
  readonly #db: Database
  readonly #eventRetention: number

  constructor(db: Database, eventRetention: number) {
    this.#db = db
    this.#eventRetention = eventRetention
  }

  async append(...[run, epoch, batch, options]: Parameters<EventTable['append']>): Promise<AppendOutcome> {
    const { end, mustExist, request, by, write } = options
    const { id = null, count = 0, body = null } = batch ?? {}
    const values = [...runKeyParts(run), epoch, request, id, count, body, end, this.#eventRetention]
    const writer = await writerSince(this.#db, by)
    const blobs = write === undefined ? [] : [write.id, write.digests]
    const sql = this.#appendSql(mustExist, write !== undefined)
    const appended = this.#db.queryIdempotent(sql, ...values, ...writer, ...blobs)
    const [row] = await translateLostBlobs(run.key, appended)
    return row === undefined ? { fenced: 'gone' } : outcomeFromRow(row)
  }

  async batches(run: RunKey, after: number): Promise<StoredBatch[]> {
    const { s } = this.#db
    const rows = await this.#db.queryIdempotent(
      `select e.* from ${s}.event_runs r join ${s}.events e on e.run = r.run
       where ${runMatches} and ${this.#isRetained('$6')} and e.first + e.count > $7 order by e.first limit ${pageSize}`,
      ...[...runKeyParts(run), this.#eventRetention, after + 1],
    )
    return rows.map(batchFromRow)
  }

  async heads(runs: readonly RunKey[]): Promise<(RunHead | undefined)[]> {
    const rows = await this.#db.queryIdempotent(
      `select k.place, r.seq, r.last_signal, r.listener, r.ended_at
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
       with ordinality as k (tenant, owner, agent, session, turn_id, place)
       join ${this.#db.s}.event_runs r
       on r.tenant = k.tenant and r.owner = k.owner and r.agent = k.agent and r.session = k.session and r.turn_id = k.turn_id
       where ${this.#isRetained('$6')}`,
      ...[...columnsOf(5, runs.map(runKeyParts)), this.#eventRetention],
    )
    const headsByIndex = new Map(rows.map((row) => [Number(row.place), headOf(row)]))
    return runs.map((_, i) => headsByIndex.get(i + 1))
  }

  async latest(key: SessionKey): Promise<LatestRun | undefined> {
    const [row] = await this.#db.queryIdempotent(
      `select r.turn_id, r.seq, r.ended_at from ${this.#db.s}.event_runs r where r.tenant = $1 and r.owner = $2
       and r.agent = $3 and r.session = $4 and ${this.#isRetained('$5')} order by r.run desc limit 1`,
      ...[...sessionKeyParts(checkSessionKey(key)), this.#eventRetention],
    )
    return row && { turnId: String(row.turn_id), seq: Number(row.seq), ended: row.ended_at !== null }
  }

  async addSignal(run: RunKey, id: string | null, body: Uint8Array | null): Promise<boolean> {
    return (await this.#db.call('add_signal', ...runKeyParts(run), this.#eventRetention, id, body)) === true
  }

  async listen(run: RunKey): Promise<number | undefined> {
    const [row] = await this.#db.queryIdempotent(
      `update ${this.#db.s}.event_runs r set listener = r.listener + 1
       where ${runMatches} and ${this.#isRetained('$6')} returning r.listener`,
      ...[...runKeyParts(run), this.#eventRetention],
    )
    return row && Number(row.listener)
  }

  async signals(run: RunKey, after: number): Promise<StoredSignal[]> {
    const { s } = this.#db
    const rows = await this.#db.queryIdempotent(
      `select g.n, g.id, g.body from ${s}.event_runs r join ${s}.event_signals g on g.run = r.run
       where ${runMatches} and not g.acknowledged and g.n > $6 order by g.n`,
      ...[...runKeyParts(run), after],
    )
    return rows.map(signalFromRow)
  }

  async acknowledgeAtEnd(run: RunKey, epoch: number, ns: readonly number[]): Promise<boolean> {
    return (await this.#db.call('acknowledge_at_end', ...runKeyParts(run), epoch, ns)) === true
  }

  async acknowledge(run: RunKey, listener: number, n: number): Promise<void> {
    await this.#db.call('acknowledge_signal', ...runKeyParts(run), listener, n)
  }

  async delete(scope: EventScope): Promise<void> {
    const [agent, session] = 'sessionId' in scope ? [scope.agent, scope.sessionId] : [null, null]
    await this.#db.queryIdempotent(
      `delete from ${this.#db.s}.event_runs where tenant = $1 and ($2::text is null or owner = $2)
       and ($3::text is null or agent = $3) and ($4::text is null or session = $4)`,
      ...[scope.tenant, scope.owner ?? null, agent, session],
    )
  }

  #appendSql(mustExist: boolean, holdsBlobs: boolean): string {
    const { s } = this.#db
    // The row stays locked until its events are stored, so that the run is not deleted in between.
    const existingRun = `(select r.turn_id from ${s}.event_runs r where ${runMatches} and ${this.#isRetained('$12')} for update) there, `
    const [source, turnId] = mustExist ? [existingRun, 'there.turn_id'] : ['', '$5']
    const keepBlobs = `, case when a.outcome_ = 'appended' then ${s}.keep_blobs($1, $2, $3, $4, 'event', $5, $15, $16) end`
    return `select a.*${holdsBlobs ? keepBlobs : ''} from ${source}${s}.append_to_run($1, $2, $3, $4, ${turnId}, $6, $7, $8, $9, $10, $11, $12, $13, $14) a`
  }

  #isRetained(ttl: string): string {
    return isRetained(ttl).replaceAll('{s}', this.#db.s)
  }
}

function outcomeFromRow(row: Row): AppendOutcome {
  const outcome = row.outcome_
  if (outcome === 'taken' || outcome === 'ended' || outcome === 'gone') return { fenced: outcome }
  return outcome === 'undelivered' ? { undelivered: undeliveredSignals(row) } : { seq: Number(row.seq_) }
}

function batchFromRow({ first, count, id, body }: Row): StoredBatch {
  return { first: Number(first), count: Number(count), id: String(id), body: toBytes(body) }
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
