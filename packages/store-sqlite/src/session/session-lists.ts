import type { SessionKey } from '@allium/core'
import type { Page, SessionStore, SessionSummary, StoredPendingCall } from '@allium/store'
import {
  type Blobs,
  parseCursor,
  pendingCallFromRow,
  type Sealer,
  sessionKeyFromRow,
  sessionSummaryFromRow,
  toPage,
} from '@allium/store-sql'
import type { Database, Value } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { deleteSession } from '../lease/delete-session.ts'
import { purgeDeletedTerms } from '../lease/deleted-terms.ts'
import type { ErasureLog } from '../lease/erasure-log.ts'
import type { Leases } from '../lease/leases.ts'
import type { StoreParts } from '../store-parts.ts'
import { cascadeDelete } from './cascade.ts'

interface ListQuery {
  readonly tenant: string
  readonly agents?: readonly string[]
  readonly cursor?: string
  readonly limit: number
}

const columns =
  "owner, agent, id, version, updated_at, coalesce(iif(open_turn is null, null, 'running'), status) as status"

/** The lists of a tenant's sessions and calls. */
export class SessionLists {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #sealer: Sealer
  readonly #erasures: ErasureLog
  readonly #blobs: Blobs

  constructor({ db, clock, leases, sealer, erasures, blobs }: StoreParts) {
    this.#db = db
    this.#clock = clock
    this.#leases = leases
    this.#sealer = sealer
    this.#erasures = erasures
    this.#blobs = blobs
  }

  async list({ tenant, owner, agents, cursor, limit }: ListQuery & { owner?: string }): Promise<Page<SessionSummary>> {
    const [time, ownerAfter, agent, id] = parseCursor(cursor, [Number.MAX_SAFE_INTEGER, '', '', ''])
    const condition = `tenant = ? and status is not null ${owner === undefined ? '' : 'and owner = ?'} and ${isOneOfAgents}`
    const index = owner === undefined ? 'sessions_by_time' : 'sessions_by_owner'
    const values = [tenant, ...(owner === undefined ? [] : [owner]), ...agentParams(agents)]
    // Two ranges of the index: rows with the same time after the cursor, and older rows. An `or` would read all rows from the first on.
    const pageOfRange = (
      range: string,
    ) => `select * from (select ${columns} from sessions indexed by ${index} where ${condition} and ${range}
      order by updated_at desc, owner, agent, id limit ?)`
    const rows = this.#db.all(
      `${pageOfRange('updated_at = ? and (owner, agent, id) > (?, ?, ?)')} union all ${pageOfRange('updated_at < ?')} limit ?`,
      ...[...values, time, ownerAfter, agent, id, limit + 1, ...values, time, limit + 1, limit + 1],
    )
    return toPage(
      rows,
      limit,
      (row) => [Number(row.updated_at), String(row.owner), String(row.agent), String(row.id)],
      (row) => sessionSummaryFromRow(tenant, row),
    )
  }

  async pendingCalls({
    tenant,
    owner,
    agents,
    cursor,
    limit,
  }: ListQuery & { owner?: string }): Promise<Page<StoredPendingCall>> {
    const [after] = parseCursor(cursor, [0])
    const rows = this.#db.all(
      // Each of the two conditions has its own index.
      `select * from pending_calls where tenant = ? ${owner === undefined ? '' : 'and owner = ?'} and ${isOneOfAgents}
       and n > ? order by n limit ?`,
      ...[tenant, ...(owner === undefined ? [] : [owner]), ...agentParams(agents), after, limit + 1],
    )
    return toPage(rows, limit, (row) => [Number(row.n)], pendingCallFromRow)
  }

  async findPendingCall({
    tenant,
    agents,
    token,
  }: Parameters<SessionStore['findPendingCall']>[0]): Promise<StoredPendingCall | undefined> {
    const digests = JSON.stringify(await this.#sealer.digests(token, tenant))
    const row = this.#db.get(
      `select * from pending_calls where tenant = ? and ${isOneOfAgents} and token in (select value from json_each(?)) limit 1`,
      ...[tenant, ...agentParams(agents), digests],
    )
    return row === undefined ? undefined : pendingCallFromRow(row)
  }

  async delete(key: SessionKey): Promise<void> {
    await this.#db.writeInGroup(() => {
      this.#erasures.add(key)
      this.#deleteWithCascade(key)
    })
    await this.#blobs.collect()
    await purgeDeletedTerms(this.#db)
  }

  /** Runs in steps, so that timers and other writes run between them. */
  async expire({ olderThan }: { olderThan: number }): Promise<number> {
    const expiresBefore = this.#clock.now() - olderThan
    let [stored, skipped, batch] = [0, 0, 100]
    while (batch === 100)
      batch = await this.#db.writeInGroup(() => {
        const candidates = this.#db.all(expiredSessions, expiresBefore, this.#clock.now(), skipped)
        const expirable = candidates.filter((row) => this.#leases.remaining(row) <= 0).map(sessionKeyFromRow)
        skipped += candidates.length - expirable.length
        stored += expirable.filter((key) => this.#deleteWithCascade(key)).length
        return candidates.length
      })
    await this.#blobs.collect()
    await purgeDeletedTerms(this.#db)
    return stored
  }

  #deleteWithCascade(key: SessionKey): boolean {
    cascadeDelete(this.#db, key)
    return deleteSession(this.#db, key)
  }
}

/** Sessions unchanged since then, without pending calls or unfinished runs. Documents stay. */
const expiredSessions = `select s.*, id as session from sessions s where updated_at < ? and agent not glob 'memory:documents/*' and not exists (select 1 from pending_calls w where
  w.tenant = s.tenant and w.owner = s.owner and w.agent = s.agent and w.session = s.id and w.expires_at > ?)
  and not exists (select 1 from runs r where r.tenant = s.tenant and r.owner = s.owner and r.session_agent = s.agent
  and r.session = s.id and r.status in ('queued', 'running')) limit 100 offset ?`

/** Matches all agents if none are given. */
const isOneOfAgents = '(? is null or agent in (select value from json_each(?)))'

function agentParams(agents: readonly string[] | undefined): [Value, Value] {
  const list = agents === undefined ? null : JSON.stringify(agents)
  return [list, list]
}
