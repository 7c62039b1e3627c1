import type { Acquired, Lease, SessionKey } from '@allium/core'
import { fenced } from '@allium/store-sql'
import type { Database, Row } from './database.ts'
import type { Erasures } from './erasures.ts'
import { forgetErased } from './forget.ts'
import type { SharedClock } from './sqlite-clock.ts'

export const where = 'tenant = ? and owner = ? and agent = ? and id = ?'
export const at = ({ tenant, owner, agent, sessionId }: SessionKey) => [tenant, owner, agent, sessionId] as const

/** Who may write to a session, and until when. */
export class Leases {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #erasures: Erasures
  readonly #given = new WeakSet<Lease>()

  constructor(db: Database, clock: SharedClock, erasures: Erasures) {
    this.#db = db
    this.#clock = clock
    this.#erasures = erasures
  }

  /** Whether a lease is of this store: tokens of others tell nothing here. */
  gave(lease: Lease | undefined): lease is Lease {
    return lease !== undefined && this.#given.has(lease)
  }

  acquire(key: SessionKey, ms: number): Promise<Acquired> {
    return this.#db.writeTogether(() => this.take(key, ms))
  }

  /**
   * The same inside a write.
   *
   * @param run the durable run that takes the session: nobody else gets it until that has ended
   */
  take(key: SessionKey, ms: number, run?: string): Acquired {
    const row = this.#standing(key)
    const heldUntil = row && this.#heldUntil(row, ms, run)
    if (heldUntil !== undefined) return { heldUntil }
    const token = this.#erasures.nextToken()
    this.#db.run(
      `insert into sessions (tenant, owner, agent, id, token, held_until, boot, run) values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict do update set token = excluded.token, held_until = excluded.held_until, boot = excluded.boot, run = excluded.run`,
      ...at(key),
      token,
      this.#clock.monotonic() + ms,
      this.#clock.boot,
      run ?? null,
    )
    const taken = { key: { ...key }, token, version: Number(row?.version ?? 0) }
    const lease: Lease = typeof row?.open_turn === 'string' ? { ...taken, open: true } : taken
    this.#given.add(lease)
    return { lease }
  }

  /** A session that an erasure has not come to yet is gone all the same. */
  #standing(key: SessionKey): Row | undefined {
    const row = this.session(key)
    const erased = row && this.#erasures.of(key)
    if (erased === undefined || Math.abs(Number(row?.token)) >= erased.token) return row
    forgetErased(this.#db, this.#erasures, key)
    return undefined
  }

  /** Until when somebody has the session, in milliseconds since the epoch; undefined where nobody has. */
  heldUntil(key: SessionKey, ms: number): number | undefined {
    const row = this.session(key)
    return row && this.#heldUntil(row, ms)
  }

  /** 0 stands for a lease that was given back. */
  renew({ key, token }: Lease, ms: number): Promise<boolean> {
    const sql = `update sessions set held_until = ?, boot = ? where ${where} and token = ? and held_until > 0`
    return this.#db.writeTogether(
      () => this.#db.run(sql, this.#clock.monotonic() + ms, this.#clock.boot, ...at(key), token) > 0,
    )
  }

  release({ key, token }: Lease): void {
    this.#db.run(`update sessions set held_until = 0 where ${where} and token = ?`, ...at(key), token)
  }

  /** A session as it stands, whoever has it. */
  session(key: SessionKey): Row | undefined {
    const columns = 'version, length, open_turn, run, token, held_until, boot'
    return this.#db.get(`select ${columns} from sessions where ${where}`, ...at(key))
  }

  /** The session under a live lease. @throws AlliumError `store.fenced` */
  held({ key, token }: Lease, row = this.session(key)): Row {
    if (row === undefined || row.token !== token || this.left(row) <= 0) throw fenced(key)
    return row
  }

  #heldUntil(row: Row, ms: number, run?: string): number | undefined {
    const left = this.left(row)
    if (left > 0) return this.#clock.now() + left
    // Until one takes its run over.
    return typeof row.run === 'string' && row.run !== run ? this.#clock.now() + ms : undefined
  }

  /** Milliseconds that a lease still has. Those of another start of the machine have lapsed. */
  left({ held_until, boot }: Row): number {
    return boot === this.#clock.boot ? Number(held_until) - this.#clock.monotonic() : 0
  }
}
