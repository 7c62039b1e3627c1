import type { Lease, SessionKey, StoredTurn } from '@allium/core'
import {
  type Checkpoint,
  checkpointMissing,
  type FindBy,
  type PassageTurn,
  type ReadFiles,
  turnConflict,
  turnIdTaken,
} from '@allium/store'
import {
  type Blobs,
  type BlobWrite,
  checkpointToRows,
  parseTurnRow,
  retryRead,
  type Sealer,
  type TurnRow,
  type TurnRows,
  turnFromRow,
  turnToRows,
} from '@allium/store-sql'
import type { SqliteBlobs } from '../blob/blobs.ts'
import type { Database, Row, Value } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { sessionMatches as of } from '../lease/delete-session.ts'
import { keyParams, type Leases } from '../lease/leases.ts'
import { OutboxClock } from '../outbox/outbox-clock.ts'
import { cutPassages, ofSession } from '../passage/cut-passages.ts'
import type { StoreParts } from '../store-parts.ts'
import { openTurnSeq, partsOf, readTurns } from './turn-rows.ts'

/** Writes to a session under its lease, with the version of the caller, and if the run has not ended. */
const writeSession = (set: string) => `
  update sessions set ${set}, updated_at = ?11 where tenant = ?1 and owner = ?2 and agent = ?3 and id = ?4
  and token = ?5 and boot = ?6 and held_until > ?7 and version = ?8 and length >= ?9
  and (open_turn is ?10 or not exists (select 1 from turns where ${ofSession} and turn_id = ?10 and seq >= 0))
  returning run, exists (select 1 from blob_holders where ${ofSession} and kind = 'open') as holds_open`
const beginCheckpoint = writeSession("open_turn = ?10, status = coalesce(status, 'running')")
const beginAppend = `${writeSession('version = version + 1, length = ?12, status = ?13, open_turn = null, held_until = iif(?14, 0, held_until)')},
  exists (select 1 from pending_calls where ${ofSession}) as has_pending, exists (select 1 from passages where ${ofSession}) as has_passages,
  (select turn_id from turns where ${ofSession} and seq = ${openTurnSeq}) as open`

/** The columns that every write of a run sets. The others are in an index that does not change, so that the index is not written. */
const contentColumns =
  'idempotency_key = ?7, status = ?8, started_at = ?9, ended_at = ?10, usage = ?11, start = ?12, count = ?13, digest = ?14, messages = ?15, rest = ?16, info = ?17, sealed_as = ?18'
/** Whether the run starts at the same message as the run before, or earlier. */
const rewinds = `coalesce((select start >= ?12 from turns where ${ofSession} and seq = ?5 - 1 and seq >= 0), 0)`
const insertTurn = `insert into turns values (null, ${Array.from({ length: 18 }, (_, i) => `?${i + 1}`).join()}, ${rewinds})`
const storeCheckpoint = `${insertTurn} on conflict (tenant, owner, agent, session, seq) do update set turn_id = ?6, ${contentColumns}`
const endOpenTurn = `update turns set seq = ?5, ${contentColumns}, rewinds = ${rewinds} where ${ofSession} and seq = ${openTurnSeq} and turn_id = ?6`

/** Adds a part to the open run, if that has the messages before it. */
const addPart = `
  insert into turn_parts select coalesce(p.place + 1, t.n << 32), ?8, ?9 from turns t left join turn_parts p
  on p.place = (select place from turn_parts where place ${partsOf('t.n')} order by place desc limit 1)
  where ${ofSession} and seq = ${openTurnSeq} and turn_id = ?5 and sealed_as = ?3 and start = ?6 and coalesce(p.count, t.count) >= ?7`

/** Writes and reads runs. */
export class Turns {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #ageClock: OutboxClock
  readonly #leases: Leases
  readonly #sealer: Sealer
  readonly #blobs: Blobs
  readonly #blobTable: SqliteBlobs

  constructor({ db, clock, leases, sealer, blobs, blobTable }: StoreParts) {
    this.#db = db
    this.#clock = clock
    this.#ageClock = new OutboxClock(db, clock)
    this.#leases = leases
    this.#sealer = sealer
    this.#blobs = blobs
    this.#blobTable = blobTable
  }

  async checkpoint(lease: Lease, version: number, turn: Checkpoint): Promise<void> {
    const { key } = lease
    const rows = await checkpointToRows(key, turn, this.#sealer)
    await this.#write(lease, rows, (write) => {
      const session = this.#find(beginCheckpoint, lease, version, turn) ?? this.#refuse(lease, version, turn)
      if (rows.turn.after > 0) this.#addPart(key, rows.turn)
      else {
        this.#db.run(storeCheckpoint, ...turnParams(key, openTurnSeq, rows.turn))
        if (session.holds_open === 1) this.#blobTable.releaseOpen(key)
      }
      this.#blobTable.assignHolder(key, 'open', turn.turnId, write)
    })
  }

  #addPart(key: SessionKey, { turnId, from, after, count, messages }: TurnRow): void {
    if (this.#db.run(addPart, ...keyParams(key), turnId, from, after, count, messages) === 0)
      throw checkpointMissing(key, turnId)
  }

  async append(lease: Lease, version: number, turn: PassageTurn, release: boolean): Promise<void> {
    const [rows, addPassages] = await Promise.all([
      turnToRows(lease.key, turn, this.#sealer),
      turn.passages &&
        import('@allium/store-sqlite/late').then((late) => late.addPassages(this.#db, lease.key, version, turn)),
    ])
    await this.#write(lease, rows, (write) => {
      const values = [rows.turn.from + rows.turn.count, turn.status, release ? 1 : 0]
      const session = this.#find(beginAppend, lease, version, turn, values)
      if (session === undefined) return this.#repeat(lease, version, rows, { write, release })
      this.#storeEnd(lease, version, rows, session)
      if (session.has_passages === 1) this.#db.run(cutPassages, ...keyParams(lease.key), turn.from)
      addPassages?.()
      if (session.holds_open === 1) this.#blobTable.releaseOpen(lease.key)
      this.#blobTable.assignHolder(lease.key, 'turn', turn.turnId, write)
    })
  }

  #write(lease: Lease, { blobSources: cuts }: TurnRows, commit: (write: BlobWrite | undefined) => void): Promise<void> {
    return this.#blobs.write(lease, cuts, (write) => this.#db.writeInGroup(() => commit(write)))
  }

  find(key: SessionKey, by: FindBy, files?: ReadFiles): Promise<StoredTurn | undefined> {
    const [column, value] = lookupColumn(by)
    return this.#read(
      key,
      `${column} = ? order by case seq when ${openTurnSeq} then 9e15 else seq end limit 1`,
      value,
      files,
    )
  }

  /** Returns the open run. */
  open(key: SessionKey): Promise<StoredTurn | undefined> {
    return this.#read(key, 'seq = ?', openTurnSeq)
  }

  #read(key: SessionKey, condition: string, value: Value, files?: ReadFiles): Promise<StoredTurn | undefined> {
    const sql = `select * from turns where ${of} and ${condition}`
    return retryRead(async () => {
      const [row] = readTurns(this.#db, () => this.#db.all(sql, ...keyParams(key), value))
      return row === undefined ? undefined : turnFromRow(key, parseTurnRow(row), this.#blobs, files)
    })
  }

  /** Writes to the session's row. Returns undefined if the run may not be stored. */
  #find(
    sql: string,
    { key, token }: Lease,
    version: number,
    { from, turnId }: StoredTurn,
    values: readonly Value[] = [],
  ): Row | undefined {
    const { boot } = this.#clock
    const held = [token, boot, this.#clock.monotonic(), version, from, turnId, this.#clock.now()]
    return this.#db.get(sql, ...keyParams(key), ...held, ...values)
  }

  #refuse(lease: Lease, version: number, { from, turnId }: Pick<StoredTurn, 'from' | 'turnId'>): never {
    const session = this.#leases.checkHeld(lease)
    const current = { version: Number(session.version), length: Number(session.length) }
    throw turnConflict(lease.key, current, { version, from, turnId }) ?? turnIdTaken(lease.key, turnId)
  }

  /** Accepts a run that was appended before. */
  #repeat(
    lease: Lease,
    version: number,
    { turn, digests }: TurnRows,
    { write, release }: { write: BlobWrite | undefined; release: boolean },
  ): void {
    const sql = `select digest from turns where ${of} and turn_id = ? and seq >= 0`
    const ended = this.#db.get(sql, ...keyParams(lease.key), turn.turnId)
    if (ended === undefined || !digests.includes(String(ended.digest))) this.#refuse(lease, version, turn)
    if (write !== undefined) this.#blobTable.deleteWrite(write)
    if (release) this.#leases.release(lease)
  }

  #storeEnd(lease: Lease, version: number, { turn, records, pendingCalls }: TurnRows, session: Row): void {
    const { key } = lease
    const values = turnParams(key, version, turn)
    if (session.open !== null && session.open !== turn.turnId)
      this.#db.run(`delete from turns where ${of} and seq = ${openTurnSeq}`, ...keyParams(key))
    this.#db.run(session.open === turn.turnId ? endOpenTurn : insertTurn, ...values)
    if (session.has_pending === 1) this.#deleteDecided(key, pendingCalls)
    for (const { callId, turnId, name, expiresAt, token } of pendingCalls)
      this.#db.run(
        `insert into pending_calls (tenant, owner, agent, session, call_id, turn_id, name, expires_at, token)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (tenant, owner, agent, session, call_id)
         do update set turn_id = excluded.turn_id, expires_at = excluded.expires_at, token = excluded.token`,
        ...[...keyParams(key), callId, turnId, name, wholeMs(expiresAt), token],
      )
    if (session.run === turn.turnId) this.#endRun(key, turn)
    this.#addRecords(lease, turn, records)
  }

  /** Deletes the pending calls that are decided. */
  #deleteDecided(key: SessionKey, pendingCalls: TurnRows['pendingCalls']): void {
    const pendingCallIds = JSON.stringify(pendingCalls.map(({ callId }) => callId))
    const sql = `delete from pending_calls where ${of} and call_id not in (select value from json_each(?))`
    this.#db.run(sql, ...keyParams(key), pendingCallIds)
  }

  #addRecords({ key, token }: Lease, { turnId }: TurnRow, records: TurnRows['records']): void {
    if (records.length === 0) return
    const { tenant, owner } = key
    const columns = 'id, tenant, turn_id, added_at, body, since, owner, token'
    const sql = `insert into outbox (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?)`
    const since = this.#ageClock.now()
    for (const { id, body, digests } of records) {
      this.#db.run(sql, id, tenant, turnId, this.#clock.now(), body, since, owner, token)
      const held = `insert or ignore into blob_holders values (?, ?, ?, ?, 'record', ?, ?, ?)`
      for (const digest of digests) this.#db.run(held, ...keyParams(key), id, digest, this.#clock.now())
    }
  }

  /** The durable run of this turn has ended. A trigger frees its session and deletes its steps. */
  #endRun({ tenant }: SessionKey, { turnId, status, code }: TurnRow): void {
    this.#db.run(
      `update runs set status = ?1, code = coalesce(?2, iif(?1 = 'failed', 'run.failed', null)), updated_at = ?3,
       task = iif(?1 in ('failed', 'suspended'), task, null) where tenant = ?4 and run = ?5`,
      ...[status, code, this.#clock.now(), tenant, turnId],
    )
  }
}

/** Returns the parameters of a run's row. */
function turnParams(key: SessionKey, seq: number, turn: TurnRow): Value[] {
  return [
    ...keyParams(key),
    ...[seq, turn.turnId, turn.idempotencyKey, turn.status, wholeMs(turn.startedAt), wholeMs(turn.endedAt), turn.usage],
    ...[turn.from, turn.count, turn.digest, turn.messages, turn.rest, turn.info, turn.sealedAs],
  ]
}

/** Rounds down, because an agent's clock may return fractions of a millisecond. */
function wholeMs<T extends number | null>(ms: T): T {
  return (ms === null ? null : Math.floor(ms)) as T
}

/** Returns the column that finds a run. Versions map to positions from 0; the open run has none. */
function lookupColumn(by: FindBy): [column: string, value: Value] {
  if ('version' in by) return ['seq', by.version > 0 ? by.version - 1 : null]
  return 'turnId' in by ? ['turn_id', by.turnId] : ['idempotency_key', by.idempotencyKey]
}
