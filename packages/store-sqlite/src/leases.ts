import type { Acquired, Lease, SessionKey } from '@allium/core'
import { fenced } from '@allium/store-sql'
import type { Database, Row } from './database.ts'
import type { SharedClock } from './sqlite-clock.ts'

export const where = 'tenant = ? and owner = ? and agent = ? and id = ?'
export const at = ({ tenant, owner, agent, sessionId }: SessionKey) => [tenant, owner, agent, sessionId] as const

/** Who may write to a session, and until when. */
export class Leases {
  readonly #db: Database
  readonly #clock: SharedClock

  constructor(db: Database, clock: SharedClock) {
    this.#db = db
    this.#clock = clock
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
    const row = this.session(key)
    const heldUntil = row && this.#heldUntil(row, ms, run)
    if (heldUntil !== undefined) return { heldUntil }
    const token = this.#db.get("update counters set value = value + 1 where name = 'token' returning value")?.value
    this.#db.run(
      `insert into sessions (tenant, owner, agent, id, token, held_until, boot, run) values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict do update set token = excluded.token, held_until = excluded.held_until, boot = excluded.boot, run = excluded.run`,
      ...at(key),
      Number(token),
      this.#clock.monotonic() + ms,
      this.#clock.boot,
      run ?? null,
    )
    const lease = { key: { ...key }, token: Number(token), version: Number(row?.version ?? 0) }
    return { lease: typeof row?.open_turn === 'string' ? { ...lease, open: true } : lease }
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
