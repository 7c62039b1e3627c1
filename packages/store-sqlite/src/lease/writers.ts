import type { Writer } from '@allium/core'
import { type ErasureScope, erasedDuringRun } from '@allium/store-sql'
import type { Database, Row } from '../database/database.ts'
import type { ErasureLog } from './erasure-log.ts'
import type { Leases } from './leases.ts'

/** The tokens of writers' data; a writer whose run began before an erasure has none. Every method runs inside a transaction. */
export class Writers {
  readonly #db: Database
  readonly #leases: Leases
  readonly #erasures: ErasureLog

  constructor(db: Database, leases: Leases, erasures: ErasureLog) {
    this.#db = db
    this.#leases = leases
    this.#erasures = erasures
  }

  /** Returns the token of a writer's data. @throws AlliumError `store.fenced` */
  token(scope: ErasureScope, by: Writer | undefined): number {
    const token = this.findToken(scope, by)
    if (token === undefined) throw erasedDuringRun()
    return token
  }

  /**
   * Returns the token of a writer's data; undefined if the data were erased since the writer's run began.
   *
   * @param hasErasures false if the caller has read that there are none
   */
  findToken(scope: ErasureScope, by: Writer | undefined, hasErasures?: boolean): number | undefined {
    const lease = by?.lease
    if (this.#leases.issued(lease)) {
      const erasure = this.#erasures.latest(scope, hasErasures)
      return lease.token < (erasure?.token ?? 0) ? undefined : lease.token
    }
    const sql = "select value, exists (select 1 from erasures) as erased from counters where name = 'token'"
    const { value, erased } = this.#db.get(sql) as Row
    if (by === undefined) return Number(value)
    const erasure = this.#erasures.latest(scope, erased === 1)
    return erasure !== undefined && by.since <= erasure.at ? undefined : Number(value)
  }
}
