import { createHmac } from 'node:crypto'
import type { Writer } from '@allium/core'
import { type ErasureScope, erasedDuringRun, erasureSubjects, toBytes, tombstoneTtl } from '@allium/store-sql'
import type { Database, Row } from './database.ts'
import type { Leases } from './leases.ts'
import type { SharedClock } from './machine-clock.ts'

/** The log of erasures; writes of runs that began before one are rejected. Every method runs inside a transaction. */
export class ErasureLog {
  readonly #db: Database
  readonly #clock: SharedClock
  #digestKey: Uint8Array | undefined

  constructor(db: Database, clock: SharedClock) {
    this.#db = db
    this.#clock = clock
  }

  /** Returns a digest that is specific to this file. */
  digest(text: string): string {
    this.#digestKey ??= toBytes(this.#db.get("select key from secrets where name = 'digests'")?.key)
    return createHmac('sha256', this.#digestKey).update(text).digest('base64url')
  }

  /** Adds a tombstone and returns its token: older data must be deleted. */
  add(scope: ErasureScope): number {
    const now = this.#clock.now()
    this.#db.run('delete from erasures where expires_at <= ?', now)
    const subject = this.digest(erasureSubjects(scope).at(-1) ?? '')
    const token = this.nextToken()
    this.#db.run('insert or replace into erasures values (?, ?, ?, ?)', subject, token, now, now + tombstoneTtl)
    return token
  }

  /** Returns a token that grows with each lease and each erasure. */
  nextToken(): number {
    const row = this.#db.get("update counters set value = value + 1 where name = 'token' returning value")
    return Number(row?.value)
  }

  /** Returns the newest erasure that affects these data. */
  latest(scope: ErasureScope): { token: number; at: number } | undefined {
    return this.#hasAny ? this.#latest(scope) : undefined
  }

  get #hasAny(): boolean {
    return this.#db.get('select 1 from erasures limit 1') !== undefined
  }

  #latest(scope: ErasureScope): { token: number; at: number } | undefined {
    const subjects = JSON.stringify(erasureSubjects(scope).map((subject) => this.digest(subject)))
    const row = this.#db.get(
      `select max(token) as token, max(at) as at from erasures
       where subject in (select value from json_each(?)) and expires_at > ?`,
      ...[subjects, this.#clock.now()],
    )
    return typeof row?.token === 'number' ? { token: row.token, at: Number(row.at) } : undefined
  }

  /** Returns the token of a writer's data. @throws AlliumError `store.fenced` */
  writerToken(scope: ErasureScope, by: Writer | undefined, leases: Leases): number {
    const token = this.findWriterToken(scope, by, leases)
    if (token === undefined) throw erasedDuringRun()
    return token
  }

  /**
   * Returns the token of a writer's data; undefined if the data were erased since the writer's run began.
   *
   * @param hasErasures false if the caller has read that there are none
   */
  findWriterToken(scope: ErasureScope, by: Writer | undefined, leases: Leases, hasErasures = true): number | undefined {
    const lease = by?.lease
    if (leases.issued(lease)) {
      const erasure = hasErasures ? this.latest(scope) : undefined
      return lease.token < (erasure?.token ?? 0) ? undefined : lease.token
    }
    const sql = "select value, exists (select 1 from erasures) as erased from counters where name = 'token'"
    const { value, erased } = this.#db.get(sql) as Row
    const erasure = by === undefined || erased === 0 ? undefined : this.#latest(scope)
    return erasure !== undefined && by !== undefined && by.since <= erasure.at ? undefined : Number(value)
  }
}
