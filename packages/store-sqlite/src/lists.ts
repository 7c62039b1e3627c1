import type { Page, SessionKey, SessionSummary, WaitingCall } from '@allium/core'
import { callOf, cursorOf, pageOf, type Sealer, summaryOf } from '@allium/store-sql'
import { forgetBeside } from './beside.ts'
import type { Database, Row, Value } from './database.ts'
import type { Leases } from './leases.ts'
import type { SharedClock } from './sqlite-clock.ts'

interface Asked {
  readonly tenant: string
  readonly cursor?: string
  readonly limit: number
}

const columns = "owner, id, version, updated_at, coalesce(iif(open_turn is null, null, 'running'), status) as status"

/** What a tenant has. */
export class Lists {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #sealer: Sealer

  constructor(db: Database, clock: SharedClock, leases: Leases, sealer: Sealer) {
    this.#db = db
    this.#clock = clock
    this.#leases = leases
    this.#sealer = sealer
  }

  list({ tenant, owner, cursor, limit }: Asked & { owner?: string }): Page<SessionSummary> {
    const [time, behind, id] = cursorOf(cursor, [Number.MAX_SAFE_INTEGER, '', ''])
    const which = `tenant = ? and status is not null ${owner === undefined ? '' : 'and owner = ?'}`
    const index = owner === undefined ? 'sessions_by_time' : 'sessions_by_owner'
    const values = owner === undefined ? [tenant] : [tenant, owner]
    // Two ranges of the index: those of the same moment behind the place, and older ones. An `or` would read all from the first on.
    const page = (
      range: string,
    ) => `select * from (select ${columns} from sessions indexed by ${index} where ${which} and ${range}
      order by updated_at desc, owner, id limit ?)`
    const rows = this.#db.all(
      `${page('updated_at = ? and (owner, id) > (?, ?)')} union all ${page('updated_at < ?')} limit ?`,
      ...[...values, time, behind, id, limit + 1, ...values, time, limit + 1, limit + 1],
    )
    return pageOf(
      rows,
      limit,
      (row) => [Number(row.updated_at), String(row.owner), String(row.id)],
      (row) => summaryOf(tenant, row),
    )
  }

  waiting({ tenant, owner, cursor, limit }: Asked & { owner?: string }): Page<WaitingCall> {
    const [after] = cursorOf(cursor, [0])
    const rows = this.#db.all(
      // Each of the two has an index of its own.
      `select * from waiting where tenant = ? ${owner === undefined ? '' : 'and owner = ?'} and since > ? order by since limit ?`,
      ...[tenant, ...(owner === undefined ? [] : [owner]), after, limit + 1],
    )
    return pageOf(rows, limit, (row) => [Number(row.since)], callOf)
  }

  async findWaiting({ tenant, token }: { tenant: string; token: string }): Promise<WaitingCall | undefined> {
    const digests = JSON.stringify(await this.#sealer.digests(token, tenant))
    const row = this.#db.get(
      'select * from waiting where tenant = ? and token in (select value from json_each(?)) limit 1',
      ...[tenant, digests],
    )
    return row === undefined ? undefined : callOf(row)
  }

  delete(key: SessionKey): Promise<void> {
    return this.#db.writeTogether(() => {
      this.#forget([key])
      forgetBeside(this.#db, key)
    })
  }

  erase({ tenant, owner }: { tenant: string; owner?: string }): Promise<number> {
    return this.#db.writeTogether(() => {
      forgetBeside(this.#db, owner === undefined ? { tenant } : { tenant, owner })
      return this.#forget(
        this.#db
          .all(
            'select * from sessions where tenant = ? and (? is null or owner = ?)',
            tenant,
            owner ?? null,
            owner ?? null,
          )
          .map(keyOf),
      )
    })
  }

  expire({ olderThan }: { olderThan: number }): Promise<number> {
    const now = this.#clock.now()
    return this.#db.writeTogether(() => {
      const old = this.#db.all(
        `select * from sessions s where updated_at < ? and not exists (select 1 from waiting w where
         w.tenant = s.tenant and w.owner = s.owner and w.session = s.id and w.expires_at > ?)
         and not exists (select 1 from runs r where r.tenant = s.tenant and r.owner = s.owner and r.session = s.id
         and r.status in ('queued', 'running'))`,
        ...[now - olderThan, now],
      )
      const keys = old.filter((row) => this.#leases.left(row) <= 0).map(keyOf)
      for (const key of keys) forgetBeside(this.#db, key)
      return this.#forget(keys)
    })
  }

  /** Tells how many of them had something stored. */
  #forget(keys: readonly SessionKey[]): number {
    let stored = 0
    for (const { tenant, owner, sessionId } of keys) {
      const values: Value[] = [tenant, owner, sessionId]
      this.#db.run('delete from turns where tenant = ? and owner = ? and session = ?', ...values)
      this.#db.run('delete from waiting where tenant = ? and owner = ? and session = ?', ...values)
      const row = this.#db.get(
        'delete from sessions where tenant = ? and owner = ? and id = ? returning status',
        ...values,
      )
      if (typeof row?.status === 'string') stored++
    }
    return stored
  }
}

function keyOf({ tenant, owner, id }: Row): SessionKey {
  return { tenant: String(tenant), owner: String(owner), sessionId: String(id) }
}
