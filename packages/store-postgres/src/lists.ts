import type { SessionStore } from '@allium/core'
import { callOf, checkName, cursorOf, pageOf, type Sealer, summaryOf } from '@allium/store-sql'
import type { Database } from './database.ts'
import { at, checkedKey, ofOwner, ofTenant } from './names.ts'

type Lists = Pick<SessionStore, 'list' | 'waiting' | 'findWaiting' | 'delete' | 'erase' | 'expire'>

/** What a tenant has. What belongs to a session goes with it. */
export function postgresLists(db: Database, sealer: Sealer): Lists {
  return {
    async list({ tenant, owner, cursor, limit }) {
      const [time, behind, id] = cursorOf(cursor, [Number.MAX_SAFE_INTEGER, '', ''])
      const rows = await db.repeatable(
        `select owner, id, version, updated_at, case when open_turn is null then status else 'running' end as status
         from ${db.s}.sessions where ${owner === undefined ? ofTenant('$1') : ofOwner('$1', '$2')}
         and status is not null and ($2::text is null or owner = $2)
         and updated_at <= $3 and (updated_at < $3 or (owner, id) > ($4, $5))
         order by updated_at desc, owner, id limit $6`,
        ...[checkName('tenant', tenant), ownerOf(owner), time, behind, id, limit + 1],
      )
      return pageOf(
        rows,
        limit,
        (row) => [Number(row.updated_at), String(row.owner), String(row.id)],
        (row) => summaryOf(tenant, row),
      )
    },
    async waiting({ tenant, owner, cursor, limit }) {
      const [after] = cursorOf(cursor, [0])
      const rows = await db.repeatable(
        `select * from ${db.s}.waiting where ${ofTenant('$1')} and ($4::text is null or owner = $4)
         and since > $2 order by since limit $3`,
        ...[checkName('tenant', tenant), Math.floor(after), limit + 1, ownerOf(owner)],
      )
      return pageOf(rows, limit, (row) => [Number(row.since)], callOf)
    },
    async findWaiting({ tenant, token }) {
      const digests = await sealer.digests(token, checkName('tenant', tenant))
      const sql = `select * from ${db.s}.waiting where tenant = $1 and token = any ($2::text[]) limit 1`
      const [row] = await db.repeatable(sql, tenant, digests)
      return row === undefined ? undefined : callOf(row)
    },
    async delete(key) {
      await db.repeatable(
        `with ${beside(db, 'tenant = $1 and owner = $2 and session = $3')}
         delete from ${db.s}.sessions where tenant = $1 and owner = $2 and id = $3`,
        ...at(checkedKey(key)),
      )
    },
    async erase({ tenant, owner }) {
      const rows = await db.once(
        `with ${beside(db, 'tenant = $1 and ($2::text is null or owner = $2)')}, gone as (
           delete from ${db.s}.sessions where tenant = $1 and ($2::text is null or owner = $2) returning status
         ) select count(status) as stored from gone`,
        ...[checkName('tenant', tenant), ownerOf(owner)],
      )
      return Number(rows[0]?.stored)
    },
    async expire({ olderThan }) {
      const rows = await db.once(
        `with now as materialized (select ${db.s}.now_ms() as ms), gone as (
           delete from ${db.s}.sessions s using now
           where s.updated_at < now.ms - $1 and s.held_until <= now.ms and not exists (
             select from ${db.s}.waiting w where w.tenant = s.tenant and w.owner = s.owner and w.session = s.id
             and w.expires_at > now.ms
           ) and not exists (
             select from ${db.s}.runs r where r.tenant = s.tenant and r.owner = s.owner and r.session = s.id
             and r.status in ('queued', 'running')
           ) returning s.tenant, s.owner, s.id, s.status
         ), ${beside(db, '(tenant, owner, session) in (select tenant, owner, id from gone)')} select count(status) as stored from gone`,
        olderThan,
      )
      return Number(rows[0]?.stored)
    },
  }
}

/** Forgets what stands beside sessions: runs with their events and steps, values of their placeholders. */
function beside(db: Database, which: string): string {
  return ['event_runs', 'runs', 'vault']
    .map((table) => `no_${table} as (delete from ${db.s}.${table} where ${which})`)
    .join()
}

/** All owners where none is asked for. */
function ownerOf(owner: string | undefined): string | null {
  return owner === undefined ? null : checkName('owner', owner)
}
