import type { FindBy, Lease, SessionKey, StoredTurn } from '@allium/core'
import {
  type Blobs,
  type BlobWrite,
  conflictOf,
  idTaken,
  readAgain,
  rowsOf,
  type Sealer,
  type TurnRow,
  type TurnRows,
  turnOf,
  turnRow,
} from '@allium/store-sql'
import type { SqliteBlobs } from './blobs.ts'
import type { Database, Row, Value } from './database.ts'
import { ofSession as of } from './forget.ts'
import { at, type Leases, where } from './leases.ts'
import type { Parts } from './lists.ts'
import { OutboxClock } from './outbox-clock.ts'
import type { SharedClock } from './sqlite-clock.ts'

/** The open run of a session stands at a place that no version has. */
export const openPlace = -1

/** Runs as they are written. */
export class Turns {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #age: OutboxClock
  readonly #leases: Leases
  readonly #sealer: Sealer
  readonly #blobs: Blobs
  readonly #blobTable: SqliteBlobs

  constructor({ db, clock, leases, sealer, blobs, blobTable }: Parts) {
    this.#db = db
    this.#clock = clock
    this.#age = new OutboxClock(db, clock)
    this.#leases = leases
    this.#sealer = sealer
    this.#blobs = blobs
    this.#blobTable = blobTable
  }

  async checkpoint(lease: Lease, version: number, turn: StoredTurn): Promise<void> {
    const rows = await rowsOf(lease.key, turn, this.#sealer)
    await this.#write(lease, rows, (write) => {
      const { open_turn: open } = this.#check(lease, version, rows.turn)
      if (open !== turn.turnId) this.#refuseEnded(lease.key, turn.turnId)
      this.#put(lease.key, openPlace, rows.turn)
      this.#blobTable.keep(lease.key, 'open', turn.turnId, write)
      const sql = `update sessions set open_turn = ?, status = coalesce(status, 'running'), updated_at = ? where ${where}`
      this.#db.run(sql, turn.turnId, this.#clock.now(), ...at(lease.key))
    })
  }

  async append(lease: Lease, version: number, turn: StoredTurn, release: boolean): Promise<void> {
    const rows = await rowsOf(lease.key, turn, this.#sealer)
    await this.#write(lease, rows, (write) => {
      const session = this.#leases.session(lease.key)
      const isKnown = session?.open_turn !== turn.turnId && this.#known(lease, rows)
      if (!isKnown) {
        this.#append(lease, this.#check(lease, version, rows.turn, session), rows, release)
        this.#blobTable.keep(lease.key, 'turn', turn.turnId, write)
        return
      }
      if (write !== undefined) this.#blobTable.end(write)
      if (release) this.#leases.release(lease)
    })
  }

  #write(lease: Lease, { cuts }: TurnRows, commit: (write: BlobWrite | undefined) => void): Promise<void> {
    return this.#blobs.write(lease, cuts, (write) => this.#db.writeTogether(() => commit(write)))
  }

  async find(key: SessionKey, by: FindBy): Promise<StoredTurn | undefined> {
    const [column, value] = placeOf(by)
    const order = 'order by case seq when -1 then 9e15 else seq end limit 1'
    return readAgain(async () => {
      const row = this.#db.get(`select * from turns where ${of} and ${column} = ? ${order}`, ...at(key), value)
      return row === undefined ? undefined : turnOf(key, turnRow(row), this.#blobs)
    })
  }

  /** Whether the very run was appended before. */
  #known(lease: Lease, { turn, digests }: TurnRows): boolean {
    const row = this.#db.get(
      `select digest from turns where ${of} and turn_id = ? and seq >= 0`,
      ...at(lease.key),
      turn.turnId,
    )
    if (row === undefined) return false
    if (digests.includes(String(row.digest))) return true
    this.#leases.held(lease)
    throw idTaken(lease.key, turn.turnId)
  }

  #append(lease: Lease, session: Row, { turn, records, waiting }: TurnRows, release: boolean): void {
    const { key } = lease
    const version = Number(session.version)
    // What stands open under the same id is replaced.
    if (session.open_turn !== null && session.open_turn !== turn.turnId)
      this.#db.run(`delete from turns where ${of} and seq = ${openPlace}`, ...at(key))
    this.#put(key, version, turn)
    this.#db.run(
      `update sessions set version = ?, length = ?, status = ?, open_turn = null, updated_at = ?,
       held_until = iif(?, 0, held_until) where ${where}`,
      ...[version + 1, turn.from + turn.count, turn.status, this.#clock.now(), release ? 1 : 0, ...at(key)],
    )
    const others = waiting.length === 0 ? [] : [JSON.stringify(waiting.map(({ callId }) => callId))]
    const but = others.length === 0 ? '' : 'and call_id not in (select value from json_each(?))'
    this.#db.run(`delete from waiting where ${of} ${but}`, ...at(key), ...others)
    for (const { callId, turnId, name, expiresAt, token } of waiting)
      this.#db.run(
        `insert into waiting (tenant, owner, agent, session, call_id, turn_id, name, expires_at, token)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (tenant, owner, agent, session, call_id)
         do update set turn_id = excluded.turn_id, expires_at = excluded.expires_at, token = excluded.token`,
        ...[...at(key), callId, turnId, name, wholeMs(expiresAt), token],
      )
    if (session.run === turn.turnId) this.#endRun(key, turn)
    this.#addRecords(lease, turn, records)
  }

  #addRecords({ key, token }: Lease, { turnId }: TurnRow, records: TurnRows['records']): void {
    if (records.length === 0) return
    const { tenant, owner } = key
    const columns = 'id, tenant, turn_id, added_at, body, since, owner, token'
    const sql = `insert into outbox (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?)`
    const since = this.#age.now()
    for (const { id, body, digests } of records) {
      this.#db.run(sql, id, tenant, turnId, this.#clock.now(), body, since, owner, token)
      const held = `insert or ignore into blob_holders values (?, ?, ?, ?, 'record', ?, ?, ?)`
      for (const digest of digests) this.#db.run(held, ...at(key), id, digest, this.#clock.now())
    }
  }

  /** The durable run that it is has ended: its steps are not needed any more. */
  #endRun(key: SessionKey, { turnId, status, code }: TurnRow): void {
    const task = `iif(?2 in ('failed', 'suspended'), task, null)`
    this.#db.run(
      `update runs set status = ?2, code = ?3, updated_at = ?4, task = ${task} where tenant = ?1 and run = ?5`,
      ...[key.tenant, status, code, this.#clock.now(), turnId],
    )
    this.#db.run(`update sessions set run = null where ${where}`, ...at(key))
    this.#db.run('delete from steps where tenant = ? and run = ?', key.tenant, turnId)
    this.#db.run(`delete from blob_holders where ${of} and kind = 'step' and holder = ?`, ...at(key), turnId)
  }

  #check(lease: Lease, version: number, turn: TurnRow, row = this.#leases.session(lease.key)): Row {
    const session = this.#leases.held(lease, row)
    const stands = { version: Number(session.version), length: Number(session.length) }
    const conflict = conflictOf(lease.key, stands, { version, from: turn.from, turnId: turn.turnId })
    if (conflict !== undefined) throw conflict
    return session
  }

  /** @throws AlliumError `store.conflict` where a run of this id has ended: it would be replaced */
  #refuseEnded(key: SessionKey, turnId: string): void {
    const sql = `select 1 from turns where ${of} and turn_id = ? and seq >= 0`
    if (this.#db.get(sql, ...at(key), turnId) !== undefined) throw idTaken(key, turnId)
  }

  /** In place of what stands there, and of the open run of the same id. */
  #put(key: SessionKey, seq: number, turn: TurnRow): void {
    const values: Value[] = [
      ...at(key),
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
    this.#db.run(`insert or replace into turns values (${values.map(() => '?').join()})`, ...values)
  }
}

/** The clock of an agent may count parts of a millisecond. */
function wholeMs<T extends number | null>(ms: T): T {
  return (ms === null ? null : Math.floor(ms)) as T
}

/** The column by which a run is found. A version is a place from 0 on, that of the open run none. */
function placeOf(by: FindBy): [column: string, value: Value] {
  if ('version' in by) return ['seq', by.version > 0 ? by.version - 1 : null]
  return 'turnId' in by ? ['turn_id', by.turnId] : ['idempotency_key', by.idempotencyKey]
}
