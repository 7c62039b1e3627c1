import { setImmediate } from 'node:timers/promises'
import type { SessionKey } from '@allium/core'
import { fenced } from '@allium/store'
import { type BlobOwner, type BlobTable, type BlobWrite, blobWriteTtl, toBytes } from '@allium/store-sql'
import type { Database } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { sessionMatches } from '../lease/delete-session.ts'
import type { ErasureLog } from '../lease/erasure-log.ts'
import { keyParams, type Leases } from '../lease/leases.ts'

/** Pieces per checkpoint of the log, and per step of a deletion. More of them would block the event loop for too long. */
const piecesPerStep = 4

const blobMatches = 'tenant = ? and owner = ? and digest = ?'
const writeMatches = `${sessionMatches} and kind = 'write' and holder = ?`

/** Holders of abandoned writes. */
const isAbandoned = "kind = 'write' and at < ?"

/** Blobs in a SQLite file. */
export class SqliteBlobs implements BlobTable {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #erasures: ErasureLog

  constructor(db: Database, clock: SharedClock, leases: Leases, erasures: ErasureLog) {
    this.#erasures = erasures
    this.#db = db
    this.#clock = clock
    this.#leases = leases
  }

  hold({ key, token, turnId, id, digests }: BlobWrite): Promise<number[] | undefined> {
    return this.#db.writeInGroup(() => {
      if (token !== undefined && this.#leases.session(key)?.token !== token) return undefined
      if (turnId !== undefined && this.#isErased(key, turnId)) return undefined
      return digests.map((digest) => {
        const sql = `insert or ignore into blob_holders values (?, ?, ?, ?, 'write', ?, ?, ?)`
        this.#db.run(sql, ...keyParams(key), id, digest, this.#clock.now())
        const pieces = this.#db.get(
          `select count(*) as n from blobs where ${blobMatches}`,
          key.tenant,
          key.owner,
          digest,
        )
        return Number(pieces?.n)
      })
    })
  }

  /** Whether an erasure that will delete the run's events has begun. */
  #isErased(key: SessionKey, turnId: string): boolean {
    const erased = this.#erasures.latest(key)
    if (erased === undefined) return false
    const row = this.#db.get(
      `select token from event_runs where ${sessionMatches} and turn_id = ?`,
      ...keyParams(key),
      turnId,
    )
    return Number(row?.token ?? 0) < erased.token
  }

  async add({ key, id }: BlobWrite, digest: string, piece: number, body: Uint8Array): Promise<boolean> {
    const isAdded = await this.#db.writeInGroup(() => {
      const holderQuery = `select 1 from blob_holders where ${writeMatches} and digest = ?`
      if (this.#db.get(holderQuery, ...keyParams(key), id, digest) === undefined) return false
      this.#db.run('insert or ignore into blobs values (?, ?, ?, ?, ?)', key.tenant, key.owner, digest, piece, body)
      return true
    })
    if (piece % piecesPerStep === piecesPerStep - 1) await this.#checkpointWal()
    return isAdded
  }

  async #checkpointWal(): Promise<void> {
    await setImmediate()
    this.#db.checkpointWal()
  }

  async rollback(write: BlobWrite): Promise<void> {
    await this.#db.writeInGroup(() => this.deleteWrite(write))
  }

  /** Like `rollback`, inside a transaction. */
  deleteWrite({ key, id }: BlobWrite): void {
    this.#db.run(`delete from blob_holders where ${writeMatches}`, ...keyParams(key), id)
  }

  /**
   * Makes a row the holder of the blobs of a write, inside its transaction. All steps of a durable run are one holder, and so are all
   * events of a run.
   *
   * @throws AlliumError `store.fenced` if the write no longer holds its blobs
   */
  assignHolder(
    key: SessionKey,
    kind: 'open' | 'turn' | 'task' | 'step' | 'event',
    holder: string,
    write: BlobWrite | undefined,
  ): void {
    if (write === undefined) return
    const sql = `update or replace blob_holders set kind = ?, holder = ? where ${writeMatches}`
    if (this.#db.run(sql, kind, holder, ...keyParams(key), write.id) < write.digests.length) throw fenced(key)
  }

  /** Releases the blobs of a session's open run, inside the transaction that replaces it. */
  releaseOpen(key: SessionKey): void {
    this.#db.run(`delete from blob_holders where ${sessionMatches} and kind = 'open'`, ...keyParams(key))
  }

  async piece({ tenant, owner }: BlobOwner, digest: string, piece: number): Promise<Uint8Array | undefined> {
    const row = this.#db.get(`select body from blobs where ${blobMatches} and piece = ?`, tenant, owner, digest, piece)
    return row && toBytes(row.body)
  }

  async collect(): Promise<boolean> {
    const abandonedBefore = this.#clock.now() - blobWriteTtl
    const pendingWork = `select 1 from unheld_blobs union all select 1 from blob_holders where ${isAbandoned} limit 1`
    if (this.#db.get(pendingWork, abandonedBefore) === undefined) return false
    await this.#db.writeInGroup(() => {
      this.#db.run(`delete from blob_holders where ${isAbandoned}`, abandonedBefore)
      const row = this.#db.get('select tenant, owner, digest from unheld_blobs limit 1')
      if (row === undefined) return
      const blob = [String(row.tenant), String(row.owner), String(row.digest)]
      const isHeld = this.#db.get(`select 1 from blob_holders where ${blobMatches} limit 1`, ...blob) !== undefined
      const lastPieces = `select piece from blobs where ${blobMatches} order by piece desc limit ${piecesPerStep}`
      const sql = `delete from blobs where ${blobMatches} and piece in (${lastPieces})`
      if (isHeld || this.#db.run(sql, ...blob, ...blob) < piecesPerStep)
        this.#db.run(`delete from unheld_blobs where ${blobMatches}`, ...blob)
    })
    await this.#checkpointWal()
    return true
  }
}
