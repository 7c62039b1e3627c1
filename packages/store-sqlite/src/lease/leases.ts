import type { Lease, SessionKey } from '@allium/core'
import { type Acquired, fenced } from '@allium/store'
import { sessionKeyParts } from '@allium/store-sql'
import type { Database, Row } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { deleteErasedSession } from './delete-session.ts'
import type { ErasureLog } from './erasure-log.ts'

export const leaseMatches = 'tenant = ? and owner = ? and agent = ? and id = ?'
export const keyParams = sessionKeyParts

/** Takes a session that is free or new. Triggers count the token. */
const takeSession = (condition = '') => `
  insert into sessions (tenant, owner, agent, id, token, held_until, boot, run)
  values (?1, ?2, ?3, ?4, (select value + 1 from counters where name = 'token'), ?5, ?6, ?7)
  on conflict do update set token = excluded.token, held_until = excluded.held_until, boot = excluded.boot, run = excluded.run
  where (held_until <= ?8 or boot <> ?6) and (run is null or run = ?7) ${condition}
  returning token, version, open_turn`
const takeFree = takeSession()
const takeUnlessErased = takeSession('and not exists (select 1 from erasures)')

/** Which process may write to a session, and until when. Leases of an earlier start of the machine have expired, so they need no sync. */
export class Leases {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #erasures: ErasureLog
  readonly #issued = new WeakSet<Lease>()

  constructor(db: Database, clock: SharedClock, erasures: ErasureLog) {
    this.#db = db
    this.#clock = clock
    this.#erasures = erasures
  }

  /** Whether this store issued the lease. Tokens of other stores have no meaning here. */
  issued(lease: Lease | undefined): lease is Lease {
    return lease !== undefined && this.#issued.has(lease)
  }

  acquire(key: SessionKey, ms: number): Promise<Acquired> {
    return this.#db.writeUnsynced(() => this.acquireNow(key, ms))
  }

  /**
   * Like `acquire`, inside a transaction.
   *
   * @param run the durable run that takes the session; no other run can acquire it until that run has ended
   * @param session the row of the session, as it is in this transaction
   */
  acquireNow(key: SessionKey, ms: number, run?: string, session?: Row): Acquired {
    const lease = this.#take(takeUnlessErased, key, ms, run)
    if (lease !== undefined) return { lease }
    const heldUntil = this.heldUntil(this.#current(key, session ?? this.session(key)), ms, run)
    return heldUntil === undefined ? { lease: this.#take(takeFree, key, ms, run) as Lease } : { heldUntil }
  }

  #take(sql: string, key: SessionKey, ms: number, run: string | undefined): Lease | undefined {
    const now = this.#clock.monotonic()
    const row = this.#db.get(sql, ...keyParams(key), now + ms, this.#clock.boot, run ?? null, now)
    if (row === undefined) return undefined
    const taken = { key: { ...key }, token: Number(row.token), version: Number(row.version) }
    const lease: Lease = typeof row.open_turn === 'string' ? { ...taken, open: true } : taken
    this.#issued.add(lease)
    return lease
  }

  /** Treats a session as deleted if an erasure has begun but has not reached it yet. */
  #current(key: SessionKey, row: Row | undefined): Row | undefined {
    const erasure = row?.erased === 1 ? this.#erasures.latest(key) : undefined
    if (erasure === undefined || Math.abs(Number(row?.token)) >= erasure.token) return row
    deleteErasedSession(this.#db, this.#erasures, key)
    return undefined
  }

  /** Returns until when a session is leased, in milliseconds since the epoch; undefined if it is free. */
  heldUntil(row: Row | undefined, ms: number, run?: string): number | undefined {
    if (row === undefined) return undefined
    const remaining = this.remaining(row)
    if (remaining > 0) return this.#clock.now() + remaining
    // The session is reserved until a process takes its run over.
    return typeof row.run === 'string' && row.run !== run ? this.#clock.now() + ms : undefined
  }

  /** `held_until` is 0 for a released lease. */
  renew({ key, token }: Lease, ms: number): Promise<boolean> {
    const sql = `update sessions set held_until = ?, boot = ? where ${leaseMatches} and token = ? and held_until > 0`
    return this.#db.writeUnsynced(
      () => this.#db.run(sql, this.#clock.monotonic() + ms, this.#clock.boot, ...keyParams(key), token) > 0,
    )
  }

  /** Returns false for a lease that was lost or released before. */
  release({ key, token }: Lease): boolean {
    const sql = `update sessions set held_until = 0 where ${leaseMatches} and token = ? and held_until > 0`
    return this.#db.run(sql, ...keyParams(key), token) > 0
  }

  /** Returns a session's row, regardless of its lease; `erased` tells whether there are erasures. */
  session(key: SessionKey): Row | undefined {
    const columns =
      'version, length, open_turn, run, token, held_until, boot, exists (select 1 from erasures) as erased'
    return this.#db.get(`select ${columns} from sessions where ${leaseMatches}`, ...keyParams(key))
  }

  /** Returns the session under a live lease. @throws AlliumError `store.fenced` */
  checkHeld({ key, token }: Lease, row = this.session(key)): Row {
    if (row === undefined || row.token !== token || this.remaining(row) <= 0) throw fenced(key)
    return row
  }

  /** Returns the milliseconds that a lease still has. Leases from before a reboot have expired. */
  remaining({ held_until, boot }: Row): number {
    return boot === this.#clock.boot ? Number(held_until) - this.#clock.monotonic() : 0
  }
}
