import type { Page, SessionKey, SessionStore, SessionSummary, StoredPendingCall } from '@allium/core'
import { type Blobs, callOf, cursorOf, pageOf, type Sealer, summaryOf } from '@allium/store-sql'
import { forgetBeside } from './beside.ts'
import type { SqliteBlobs } from './blobs.ts'
import type { Database, Row, Value } from './database.ts'
import type { Erasures } from './erasures.ts'
import { forgetSession } from './forget.ts'
import type { Leases } from './leases.ts'
import type { Renames } from './renames.ts'
import type { SharedClock } from './sqlite-clock.ts'

/** What the parts of a store share. */
export interface Parts {
  readonly db: Database
  readonly clock: SharedClock
  readonly leases: Leases
  readonly sealer: Sealer
  readonly renames: Renames
  readonly erasures: Erasures
  readonly blobs: Blobs
  readonly blobTable: SqliteBlobs
}

interface Asked {
  readonly tenant: string
  readonly agents?: readonly string[]
  readonly cursor?: string
  readonly limit: number
}

const columns =
  "owner, agent, id, version, updated_at, coalesce(iif(open_turn is null, null, 'running'), status) as status"

/** What a tenant has. */
export class Lists {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #sealer: Sealer
  readonly #renames: Renames
  readonly #erasures: Erasures
  readonly #blobs: Blobs

  constructor({ db, clock, leases, sealer, renames, erasures, blobs }: Parts) {
    this.#db = db
    this.#clock = clock
    this.#leases = leases
    this.#sealer = sealer
    this.#renames = renames
    this.#erasures = erasures
    this.#blobs = blobs
  }

  async list({ tenant, owner, agents, cursor, limit }: Asked & { owner?: string }): Promise<Page<SessionSummary>> {
    const [time, behind, agent, id] = cursorOf(cursor, [Number.MAX_SAFE_INTEGER, '', '', ''])
    await this.#renames.claimSome(tenant, owner)
    const which = `tenant = ? and status is not null ${owner === undefined ? '' : 'and owner = ?'} and ${amongAgents}`
    const index = owner === undefined ? 'sessions_by_time' : 'sessions_by_owner'
    const values = [tenant, ...(owner === undefined ? [] : [owner]), ...listOf(agents)]
    // Two ranges of the index: those of the same moment behind the place, and older ones. An `or` would read all from the first on.
    const page = (
      range: string,
    ) => `select * from (select ${columns} from sessions indexed by ${index} where ${which} and ${range}
      order by updated_at desc, owner, agent, id limit ?)`
    const rows = this.#db.all(
      `${page('updated_at = ? and (owner, agent, id) > (?, ?, ?)')} union all ${page('updated_at < ?')} limit ?`,
      ...[...values, time, behind, agent, id, limit + 1, ...values, time, limit + 1, limit + 1],
    )
    return pageOf(
      rows,
      limit,
      (row) => [Number(row.updated_at), String(row.owner), String(row.agent), String(row.id)],
      (row) => summaryOf(tenant, row),
    )
  }

  async waiting({
    tenant,
    owner,
    agents,
    cursor,
    limit,
  }: Asked & { owner?: string }): Promise<Page<StoredPendingCall>> {
    const [after] = cursorOf(cursor, [0])
    await this.#renames.claimSome(tenant)
    const rows = this.#db.all(
      // Each of the two has an index of its own.
      `select * from waiting where tenant = ? ${owner === undefined ? '' : 'and owner = ?'} and agent <> '' and ${amongAgents}
       and since > ? order by since limit ?`,
      ...[tenant, ...(owner === undefined ? [] : [owner]), ...listOf(agents), after, limit + 1],
    )
    return pageOf(rows, limit, (row) => [Number(row.since)], callOf)
  }

  async findWaiting({
    tenant,
    agents,
    token,
  }: Parameters<SessionStore['findWaiting']>[0]): Promise<StoredPendingCall | undefined> {
    const digests = JSON.stringify(await this.#sealer.digests(token, tenant))
    const find = () =>
      this.#db.get(
        `select * from waiting where tenant = ? and ${amongAgents} and token in (select value from json_each(?)) limit 1`,
        ...[tenant, ...listOf(agents?.concat('')), digests],
      )
    const row = find()
    if (row?.agent !== '') return row === undefined ? undefined : callOf(row)
    await this.#renames.claim(callOf(row).key)
    const claimed = find()
    return claimed === undefined || claimed.agent === '' ? undefined : callOf(claimed)
  }

  async delete(key: SessionKey): Promise<void> {
    await this.#renames.claim(key)
    await this.#db.writeTogether(() => {
      this.#erasures.add(key)
      this.#forget(key)
    })
    await this.#blobs.collect()
  }

  /** In steps, so that timers and other writes get their turn between two. */
  async expire({ olderThan }: { olderThan: number }): Promise<number> {
    const before = this.#clock.now() - olderThan
    let [stored, kept, found] = [0, 0, 100]
    while (found === 100)
      found = await this.#db.writeTogether(() => {
        const old = this.#db.all(oldSessions, before, this.#clock.now(), kept)
        const free = old.filter((row) => this.#leases.left(row) <= 0).map(keyOf)
        kept += old.length - free.length
        stored += free.filter((key) => this.#forget(key)).length
        return old.length
      })
    await this.#blobs.collect()
    return stored
  }

  #forget(key: SessionKey): boolean {
    forgetBeside(this.#db, key)
    return forgetSession(this.#db, key)
  }
}

/** Those that nobody has changed since, and in which nothing waits or runs. */
const oldSessions = `select * from sessions s where updated_at < ? and not exists (select 1 from waiting w where
  w.tenant = s.tenant and w.owner = s.owner and w.agent = s.agent and w.session = s.id and w.expires_at > ?)
  and not exists (select 1 from runs r where r.tenant = s.tenant and r.owner = s.owner and r.session_agent = s.agent
  and r.session = s.id and r.status in ('queued', 'running')) limit 100 offset ?`

function keyOf({ tenant, owner, agent, id }: Row): SessionKey {
  return { tenant: String(tenant), owner: String(owner), agent: String(agent), sessionId: String(id) }
}

/** Of all agents where none are named. */
const amongAgents = '(? is null or agent in (select value from json_each(?)))'

function listOf(agents: readonly string[] | undefined): [Value, Value] {
  const list = agents === undefined ? null : JSON.stringify(agents)
  return [list, list]
}
