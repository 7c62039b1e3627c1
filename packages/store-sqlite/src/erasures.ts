import { createHmac } from 'node:crypto'
import type { Writer } from '@allium/core'
import { bytesOf, type Erased, erasedSince, subjectsOf, tombstoneLife } from '@allium/store-sql'
import type { Database } from './database.ts'
import type { Leases } from './leases.ts'
import type { SharedClock } from './sqlite-clock.ts'

/** Who was erased, and since when: what older runs bring is refused. All inside a write. */
export class Erasures {
  readonly #db: Database
  readonly #clock: SharedClock
  #key: Uint8Array | undefined

  constructor(db: Database, clock: SharedClock) {
    this.#db = db
    this.#clock = clock
  }

  /** A digest that only this file gives. */
  digest(text: string): string {
    this.#key ??= bytesOf(this.#db.get("select key from secrets where name = 'digests'")?.key)
    return createHmac('sha256', this.#key).update(text).digest('base64url')
  }

  /** Leaves a tombstone; gives its token: what is older is to be deleted. */
  add(of: Erased): number {
    const now = this.#clock.now()
    this.#db.run('delete from erasures where expires_at <= ?', now)
    const subject = this.digest(subjectsOf(of).at(-1) ?? '')
    const token = this.nextToken()
    this.#db.run('insert or replace into erasures values (?, ?, ?, ?)', subject, token, now, now + tombstoneLife)
    return token
  }

  /** Grows with each lease and each erasure. */
  nextToken(): number {
    const row = this.#db.get("update counters set value = value + 1 where name = 'token' returning value")
    return Number(row?.value)
  }

  /** The newest erasure that concerns what is stored there. */
  of(place: Erased): { token: number; at: number } | undefined {
    if (this.#db.get('select 1 from erasures limit 1') === undefined) return undefined
    const subjects = JSON.stringify(subjectsOf(place).map((subject) => this.digest(subject)))
    const row = this.#db.get(
      `select max(token) as token, max(at) as at from erasures
       where subject in (select value from json_each(?)) and expires_at > ?`,
      ...[subjects, this.#clock.now()],
    )
    return typeof row?.token === 'number' ? { token: row.token, at: Number(row.at) } : undefined
  }

  /** Whether the run of a writer began before what it stores was erased. */
  fences(place: Erased, by: Writer | undefined, leases: Leases): boolean {
    const erased = by && this.of(place)
    if (by === undefined || erased === undefined) return false
    return leases.gave(by.lease) ? by.lease.token < erased.token : by.since <= erased.at
  }

  /** The token of what a writer stores. @throws AlliumError `store.fenced` */
  tokenOf(place: Erased, by: Writer | undefined, leases: Leases): number {
    if (this.fences(place, by, leases)) throw erasedSince()
    if (leases.gave(by?.lease)) return by?.lease?.token ?? 0
    return Number(this.#db.get("select value from counters where name = 'token'")?.value)
  }
}
