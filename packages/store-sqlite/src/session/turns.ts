import type { Lease, SessionKey, StoredTurn } from '@allium/core'
import { type FindBy, type ReadFiles, turnConflict, turnIdTaken } from '@allium/store'
import {
  type Blobs,
  type BlobWrite,
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
import { keyParams, type Leases, leaseMatches } from '../lease/leases.ts'
import { OutboxClock } from '../outbox/outbox-clock.ts'
import type { StoreParts } from '../store-parts.ts'

/** The `seq` of a session's open run, which no version has. */
export const openTurnSeq = -1

const ofSession = 'tenant = ?1 and owner = ?2 and agent = ?3 and session = ?4'
/**
 * Returns everything that a write needs to know about its session. `ended` is the digest of the turn, if it has ended. Skips lookups that
 * are not needed: the open run has not ended, and without an open run there are no blobs of one.
 */
const sessionForWrite = (columns = '') => `
  select version, length, open_turn, run, token, held_until, boot,
  iif(open_turn = ?5, null, (select coalesce(digest, '') from turns where ${ofSession} and turn_id = ?5 and seq >= 0)) as ended,
  iif(open_turn is null, 0, exists (select 1 from blob_holders where ${ofSession} and kind = 'open')) as holds_open${columns}
  from sessions where tenant = ?1 and owner = ?2 and agent = ?3 and id = ?4`
const sessionForCheckpoint = sessionForWrite()
const sessionForAppend = sessionForWrite(`, exists (select 1 from pending_calls where ${ofSession}) as has_pending`)

/** Updates the open run in place. It leaves out the columns of an index that does not change, so that the index is not written. */
const updateOpenTurn = (seq = '') => `
  update or replace turns set ${seq} idempotency_key = ?7, status = ?8, started_at = ?9, ended_at = ?10, usage = ?11,
  start = ?12, count = ?13, digest = ?14, messages = ?15, rest = ?16, info = ?17, sealed_as = ?18
  where ${ofSession} and seq = ${openTurnSeq} and turn_id = ?6`
const updateCheckpoint = updateOpenTurn()
const endOpenTurn = updateOpenTurn('seq = ?5,')

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

  async checkpoint(lease: Lease, version: number, turn: StoredTurn): Promise<void> {
    const rows = await turnToRows(lease.key, turn, this.#sealer, { isOpen: true })
    await this.#write(lease, rows, (write) => {
      const row = this.#db.get(sessionForCheckpoint, ...keyParams(lease.key), turn.turnId)
      const session = this.#checkVersion(lease, version, rows.turn, row)
      if (session.ended !== null) throw turnIdTaken(lease.key, turn.turnId)
      this.#storeTurn(lease.key, session, openTurnSeq, rows.turn)
      if (session.holds_open === 1) this.#blobTable.releaseOpen(lease.key)
      this.#blobTable.assignHolder(lease.key, 'open', turn.turnId, write)
      const sql = `update sessions set open_turn = ?, status = coalesce(status, 'running'), updated_at = ? where ${leaseMatches}`
      this.#db.run(sql, turn.turnId, this.#clock.now(), ...keyParams(lease.key))
    })
  }

  async append(lease: Lease, version: number, turn: StoredTurn, release: boolean): Promise<void> {
    const rows = await turnToRows(lease.key, turn, this.#sealer)
    await this.#write(lease, rows, (write) => {
      const session = this.#db.get(sessionForAppend, ...keyParams(lease.key), turn.turnId)
      const isDuplicate = this.#isAppended(lease, rows, session)
      if (!isDuplicate) {
        this.#append(lease, this.#checkVersion(lease, version, rows.turn, session), rows, release)
        if (session?.holds_open === 1) this.#blobTable.releaseOpen(lease.key)
        this.#blobTable.assignHolder(lease.key, 'turn', turn.turnId, write)
        return
      }
      if (write !== undefined) this.#blobTable.deleteWrite(write)
      if (release) this.#leases.release(lease)
    })
  }

  #write(lease: Lease, { blobSources: cuts }: TurnRows, commit: (write: BlobWrite | undefined) => void): Promise<void> {
    return this.#blobs.write(lease, cuts, (write) => this.#db.writeInGroup(() => commit(write)))
  }

  async find(key: SessionKey, by: FindBy, files?: ReadFiles): Promise<StoredTurn | undefined> {
    const [column, value] = lookupColumn(by)
    const order = 'order by case seq when -1 then 9e15 else seq end limit 1'
    return retryRead(async () => {
      const row = this.#db.get(`select * from turns where ${of} and ${column} = ? ${order}`, ...keyParams(key), value)
      return row === undefined ? undefined : turnFromRow(key, parseTurnRow(row), this.#blobs, files)
    })
  }

  /** Whether the same run was appended before. */
  #isAppended(lease: Lease, { turn, digests }: TurnRows, session: Row | undefined): boolean {
    const digest = session?.ended ?? null
    if (digest === null) return false
    if (digests.includes(String(digest))) return true
    this.#leases.checkHeld(lease)
    throw turnIdTaken(lease.key, turn.turnId)
  }

  #append(lease: Lease, session: Row, { turn, records, pendingCalls }: TurnRows, release: boolean): void {
    const { key } = lease
    const version = Number(session.version)
    // Replaces the open run.
    if (session.open_turn !== null && session.open_turn !== turn.turnId)
      this.#db.run(`delete from turns where ${of} and seq = ${openTurnSeq}`, ...keyParams(key))
    this.#storeTurn(key, session, version, turn)
    this.#db.run(
      `update sessions set version = ?, length = ?, status = ?, open_turn = null, updated_at = ?,
       held_until = iif(?, 0, held_until), run = nullif(run, ?) where ${leaseMatches}`,
      ...[version + 1, turn.from + turn.count, turn.status, this.#clock.now(), release ? 1 : 0, turn.turnId],
      ...keyParams(key),
    )
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

  /** The durable run of this turn has ended, so its steps are no longer needed. */
  #endRun(key: SessionKey, { turnId, status, code }: TurnRow): void {
    const task = `iif(?6 in ('failed', 'suspended'), task, null)`
    const hasBlobs = `exists (select 1 from blob_holders where ${ofSession} and kind = 'step' and holder = ?5)`
    const ended = this.#db.get(
      `update runs set status = ?6, code = coalesce(?7, iif(?6 = 'failed', 'run.failed', null)), updated_at = ?8, task = ${task}
       where tenant = ?1 and run = ?5 returning ${hasBlobs} as has_blobs`,
      ...[...keyParams(key), turnId, status, code, this.#clock.now()],
    )
    this.#db.run('delete from steps where tenant = ? and run = ?', key.tenant, turnId)
    if (ended?.has_blobs === 1)
      this.#db.run(`delete from blob_holders where ${of} and kind = 'step' and holder = ?`, ...keyParams(key), turnId)
  }

  #checkVersion(lease: Lease, version: number, turn: TurnRow, row: Row | undefined): Row {
    const session = this.#leases.checkHeld(lease, row)
    const current = { version: Number(session.version), length: Number(session.length) }
    const conflict = turnConflict(lease.key, current, { version, from: turn.from, turnId: turn.turnId })
    if (conflict !== undefined) throw conflict
    return session
  }

  /** Stores the turn at `seq`, in the row of the open run if that is the same turn. */
  #storeTurn(key: SessionKey, session: Row, seq: number, turn: TurnRow): void {
    const values: Value[] = [
      ...keyParams(key),
      seq,
      turn.turnId,
      turn.idempotencyKey,
      turn.status,
      wholeMs(turn.startedAt),
      wholeMs(turn.endedAt),
      turn.usage,
      turn.from,
      turn.count,
      turn.digest,
      turn.messages,
      turn.rest,
      turn.info,
      turn.sealedAs,
    ]
    const update = seq === openTurnSeq ? updateCheckpoint : endOpenTurn
    if (session.open_turn === turn.turnId && this.#db.run(update, ...values) > 0) return
    this.#db.run(`insert or replace into turns values (${values.map(() => '?').join()})`, ...values)
  }
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
