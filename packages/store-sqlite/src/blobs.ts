import { setImmediate } from 'node:timers/promises'
import type { SessionKey } from '@allium/core'
import { type BlobOwner, type BlobTable, type BlobWrite, blobWriteLife, bytesOf, fenced } from '@allium/store-sql'
import type { Database } from './database.ts'
import type { Erasures } from './erasures.ts'
import { ofSession } from './forget.ts'
import { at, type Leases } from './leases.ts'
import type { SharedClock } from './sqlite-clock.ts'

/** Pieces per checkpoint of the log, and per step of a deletion. More of them would block the event loop for too long. */
const some = 4

const ofBlob = 'tenant = ? and owner = ? and digest = ?'
const ofWrite = `${ofSession} and kind = 'write' and holder = ?`

/** Holders of abandoned writes. */
const isLeft = "kind = 'write' and at < ?"

/** Blobs in a SQLite file. */
export class SqliteBlobs implements BlobTable {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #erasures: Erasures

  constructor(db: Database, clock: SharedClock, leases: Leases, erasures: Erasures) {
    this.#erasures = erasures
    this.#db = db
    this.#clock = clock
    this.#leases = leases
  }

  hold({ key, token, turnId, id, digests }: BlobWrite): Promise<number[] | undefined> {
    return this.#db.writeTogether(() => {
      if (token !== undefined && this.#leases.session(key)?.token !== token) return undefined
      if (turnId !== undefined && this.#isErased(key, turnId)) return undefined
      return digests.map((digest) => {
        const sql = `insert or ignore into blob_holders values (?, ?, ?, ?, 'write', ?, ?, ?)`
        this.#db.run(sql, ...at(key), id, digest, this.#clock.now())
        const pieces = this.#db.get(`select count(*) as n from blobs where ${ofBlob}`, key.tenant, key.owner, digest)
        return Number(pieces?.n)
      })
    })
  }

  /** Whether an erasure has begun that will come to the events of a run. */
  #isErased(key: SessionKey, turnId: string): boolean {
    const erased = this.#erasures.of(key)
    if (erased === undefined) return false
    const row = this.#db.get(`select token from event_runs where ${ofSession} and turn_id = ?`, ...at(key), turnId)
    return Number(row?.token ?? 0) < erased.token
  }

  async add({ key, id }: BlobWrite, digest: string, piece: number, body: Uint8Array): Promise<boolean> {
    const isAdded = await this.#db.writeTogether(() => {
      const held = `select 1 from blob_holders where ${ofWrite} and digest = ?`
      if (this.#db.get(held, ...at(key), id, digest) === undefined) return false
      this.#db.run('insert or ignore into blobs values (?, ?, ?, ?, ?)', key.tenant, key.owner, digest, piece, body)
      return true
    })
    if (piece % some === some - 1) await this.#shorten()
    return isAdded
  }

  async #shorten(): Promise<void> {
    await setImmediate()
    this.#db.shortenLog()
  }

  async drop(write: BlobWrite): Promise<void> {
    await this.#db.writeTogether(() => this.end(write))
  }

  /** The same inside a write. */
  end({ key, id }: BlobWrite): void {
    this.#db.run(`delete from blob_holders where ${ofWrite}`, ...at(key), id)
  }

  /**
   * Makes a row the holder of the blobs of a write, inside its transaction. A turn replaces the open turn as a holder. All steps of a durable
   * run are one holder, and so are all events of a run.
   *
   * @throws AlliumError `store.fenced` if the write no longer holds its blobs
   */
  keep(
    key: SessionKey,
    kind: 'open' | 'turn' | 'task' | 'step' | 'event',
    holder: string,
    write: BlobWrite | undefined,
  ): void {
    if (kind === 'turn' || kind === 'open')
      this.#db.run(`delete from blob_holders where ${ofSession} and kind = 'open'`, ...at(key))
    if (write === undefined) return
    const sql = `update or replace blob_holders set kind = ?, holder = ? where ${ofWrite}`
    if (this.#db.run(sql, kind, holder, ...at(key), write.id) < write.digests.length) throw fenced(key)
  }

  async piece({ tenant, owner }: BlobOwner, digest: string, piece: number): Promise<Uint8Array | undefined> {
    const row = this.#db.get(`select body from blobs where ${ofBlob} and piece = ?`, tenant, owner, digest, piece)
    return row && bytesOf(row.body)
  }

  async collect(): Promise<boolean> {
    const before = this.#clock.now() - blobWriteLife
    const anything = `select 1 from unheld_blobs union all select 1 from blob_holders where ${isLeft} limit 1`
    if (this.#db.get(anything, before) === undefined) return false
    await this.#db.writeTogether(() => {
      this.#db.run(`delete from blob_holders where ${isLeft}`, before)
      const row = this.#db.get('select tenant, owner, digest from unheld_blobs limit 1')
      if (row === undefined) return
      const blob = [String(row.tenant), String(row.owner), String(row.digest)]
      const isHeld = this.#db.get(`select 1 from blob_holders where ${ofBlob} limit 1`, ...blob) !== undefined
      const last = `select piece from blobs where ${ofBlob} order by piece desc limit ${some}`
      const sql = `delete from blobs where ${ofBlob} and piece in (${last})`
      if (isHeld || this.#db.run(sql, ...blob, ...blob) < some)
        this.#db.run(`delete from unheld_blobs where ${ofBlob}`, ...blob)
    })
    await this.#shorten()
    return true
  }
}
