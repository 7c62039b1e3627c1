import type { SessionKey } from '@allium/core'
import type { Page, SessionStore, SessionSummary, StoredPendingCall } from '@allium/store'
import {
  type Blobs,
  checkName,
  checkOwner,
  parseCursor,
  pendingCallFromRow,
  type Sealer,
  sessionSummaryFromRow,
  toPage,
} from '@allium/store-sql'
import type { Database } from '../database/database.ts'
import { keyParams, ownerMatches, tenantMatches } from '../database/keys.ts'

/** Rows per step of an erasure. */
const rowsPerStep = 500

type Query<Method extends Exclude<keyof SessionStore, 'outbox'>> = Parameters<SessionStore[Method]>[0]

/** The lists of a tenant's sessions and calls. Rows that belong to a session are deleted with it. */
export class SessionLists {
  readonly #db: Database
  readonly #sealer: Sealer
  readonly #blobs: Blobs

  constructor(db: Database, { sealer, blobs }: { sealer: Sealer; blobs: Blobs }) {
    this.#db = db
    this.#sealer = sealer
    this.#blobs = blobs
  }

  async list({ tenant, owner, agents, cursor, limit }: Query<'list'>): Promise<Page<SessionSummary>> {
    const [time, ownerAfter, agent, id] = parseCursor(cursor, [Number.MAX_SAFE_INTEGER, '', '', ''])
    checkName('tenant', tenant)
    const rows = await this.#db.queryIdempotent(
      `select owner, agent, id, version, updated_at, case when open_turn is null then status else 'running' end as status
       from ${this.#db.s}.sessions where ${owner === undefined ? tenantMatches('$1') : ownerMatches('$1', '$2')}
       and status is not null and ($2::text is null or owner = $2) and ($3::text[] is null or agent = any ($3))
       and updated_at <= $4 and (updated_at < $4 or (owner, agent, id) > ($5, $6, $7))
       order by updated_at desc, owner, agent, id limit $8`,
      ...[tenant, ownerParam(owner), agents ?? null, time, ownerAfter, agent, id, limit + 1],
    )
    return toPage(
      rows,
      limit,
      (row) => [Number(row.updated_at), String(row.owner), String(row.agent), String(row.id)],
      (row) => sessionSummaryFromRow(tenant, row),
    )
  }

  async pendingCalls(query: Query<'pendingCalls'>): Promise<Page<StoredPendingCall>> {
    const { tenant, owner, agents, cursor, limit } = query
    const [after] = parseCursor(cursor, [0])
    checkName('tenant', tenant)
    const rows = await this.#db.queryIdempotent(
      `select * from ${this.#db.s}.pending_calls where ${tenantMatches('$1')} and ($2::text is null or owner = $2)
       and ($3::text[] is null or agent = any ($3)) and n > $4 order by n limit $5`,
      ...[tenant, ownerParam(owner), agents ?? null, Math.floor(after), limit + 1],
    )
    return toPage(rows, limit, (row) => [Number(row.n)], pendingCallFromRow)
  }

  async findPendingCall({ tenant, agents, token }: Query<'findPendingCall'>): Promise<StoredPendingCall | undefined> {
    const digests = await this.#sealer.digests(token, checkName('tenant', tenant))
    const sql = `select * from ${this.#db.s}.pending_calls where tenant = $1 and token = any ($2::text[])
      and ($3::text[] is null or agent = any ($3)) limit 1`
    const [row] = await this.#db.queryIdempotent(sql, tenant, digests, agents ?? null)
    return row === undefined ? undefined : pendingCallFromRow(row)
  }

  async delete(key: SessionKey): Promise<void> {
    const { s } = this.#db
    await this.#db.call('begin_erasure', ...keyParams(key))
    await this.#db.queryIdempotent(
      `with ${cascadeDelete(this.#db, ofKey)} delete from ${s}.sessions where ${ofKey.replace('session', 'id')}`,
      ...keyParams(key),
    )
    await this.#blobs.collect()
  }

  /** Runs in steps. The tombstone comes first and rejects older writes from then on. */
  async erase(scope: Query<'erase'>): Promise<number> {
    const { tenant, owner = null } = checkOwner(scope)
    const [erasure] = await this.#db.rowsOnce('begin_erasure', tenant, owner, null, null)
    const values = [tenant, owner, erasure?.token_, erasure?.run_, rowsPerStep]
    for (let stored = 0; ; ) {
      const [row] = await this.#db.rowsOnce('erase_some', ...values)
      stored += Number(row?.stored_)
      if (Number(row?.found_) > 0) continue
      if (owner === null) await this.#db.call('forget_tenant', tenant)
      await this.#blobs.collect()
      return stored
    }
  }

  async expire({ olderThan }: Query<'expire'>): Promise<number> {
    const { s } = this.#db
    const isOfExpired = '(tenant, owner, agent, session) in (select tenant, owner, agent, id from gone)'
    const rows = await this.#db.queryOnce(
      `with now as materialized (select ${s}.now_ms() as ms), gone as (
         delete from ${s}.sessions s using now
         where s.updated_at < now.ms - $1 and s.held_until <= now.ms and s.agent not like 'memory:documents/%' and not exists (
           select from ${s}.pending_calls w where w.tenant = s.tenant and w.owner = s.owner and w.agent = s.agent and w.session = s.id
           and w.expires_at > now.ms
         ) and not exists (
           select from ${s}.runs r where r.tenant = s.tenant and r.owner = s.owner and r.session_agent = s.agent and r.session = s.id
           and r.status in ('queued', 'running')
         ) returning s.tenant, s.owner, s.agent, s.id, s.status
       ), ${cascadeDelete(this.#db, isOfExpired)} select count(status) as stored from gone`,
      olderThan,
    )
    await this.#blobs.collect()
    return Number(rows[0]?.stored)
  }
}

const ofKey = 'tenant = $1 and owner = $2 and agent = $3 and session = $4'

/** Deletes data that belongs to sessions: runs with their events and steps, recordings, feedback, and the values of placeholders. In `runs`, the column `agent` names the agent that executes. */
function cascadeDelete(db: Database, condition: string): string {
  return ['vault', 'recordings', 'feedback', 'event_runs', 'runs']
    .map(
      (table) =>
        `no_${table} as (delete from ${db.s}.${table} where ${table === 'runs' ? condition.replace('agent', 'session_agent') : condition})`,
    )
    .join()
}

/** Null matches all owners. */
function ownerParam(owner: string | undefined): string | null {
  return owner === undefined ? null : checkName('owner', owner)
}
