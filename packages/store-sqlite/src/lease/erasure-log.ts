import { createHmac } from 'node:crypto'
import { type ErasureScope, erasureSubjects, toBytes, tombstoneTtl } from '@allium/store-sql'
import type { Database } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'

/** The log of erasures; writes of runs that began before one are rejected. Every method runs inside a transaction. */
export class ErasureLog {
  readonly #db: Database
  readonly #clock: SharedClock
  #digestKey: Uint8Array | undefined

  constructor(db: Database, clock: SharedClock) {
    this.#db = db
    this.#clock = clock
  }

  /** Returns a digest that is specific to this file: half of an HMAC, which is as much as RFC 2104 recommends at least. */
  digest(text: string): string {
    this.#digestKey ??= toBytes(this.#db.get("select key from secrets where name = 'digests'")?.key)
    return createHmac('sha256', this.#digestKey).update(text).digest('base64url').slice(0, 22)
  }

  /** Returns the digests of the tenant, the owner and so on, as far as the scope has them. */
  digests(scope: ErasureScope): string[] {
    return erasureSubjects(scope).map((subject) => this.digest(subject))
  }

  /** Adds a tombstone and returns its token: older data must be deleted. */
  add(scope: ErasureScope): number {
    const now = this.#clock.now()
    this.#db.run('delete from erasures where expires_at <= ?', now)
    const token = this.nextToken()
    const subject = this.digests(scope).at(-1) as string
    this.#db.run('insert or replace into erasures values (?, ?, ?, ?)', subject, token, now, now + tombstoneTtl)
    return token
  }

  /** Returns a token that grows with each lease and each erasure. */
  nextToken(): number {
    const row = this.#db.get("update counters set value = value + 1 where name = 'token' returning value")
    return Number(row?.value)
  }

  /**
   * Returns the newest erasure that affects these data.
   *
   * @param hasAny whether there are erasures at all, if the caller has read that
   */
  latest(scope: ErasureScope, hasAny = this.#hasAny): { token: number; at: number } | undefined {
    if (!hasAny) return undefined
    const row = this.#db.get(
      `select max(token) as token, max(at) as at from erasures
       where subject in (select value from json_each(?)) and expires_at > ?`,
      ...[JSON.stringify(this.digests(scope)), this.#clock.now()],
    )
    return typeof row?.token === 'number' ? { token: row.token, at: Number(row.at) } : undefined
  }

  get #hasAny(): boolean {
    return this.#db.get('select 1 from erasures limit 1') !== undefined
  }
}
