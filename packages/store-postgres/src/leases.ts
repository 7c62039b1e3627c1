import type { Lease, SessionKey, SessionStore, Writer } from '@allium/core'
import type { Database, Row } from './database.ts'
import { at, checkedKey } from './names.ts'
import type { Renames } from './renames.ts'
import { together } from './together.ts'

/** Who may write to a session, and until when, by the server's clock. */
export function postgresLeases(db: Database, renames: Renames): Pick<SessionStore, 'acquire' | 'renew' | 'release'> {
  const renew = together<Renewal, boolean>((renewals) => renewed(db, renewals))
  return {
    async acquire(given, ms) {
      const key = checkedKey({ ...given })
      await renames.claim(key)
      const gone = `(select ${db.s}.forget_erased($1, $2, $3, $4)) gone`
      const sql = `select t.* from ${gone}, lateral ${db.s}.take_lease($1, $2, $3, $4, $5) t`
      const [row] = await db.once(sql, ...at(key), ms)
      if (row === undefined || row.token_ === null) return { heldUntil: Math.ceil(Number(row?.held_until_)) }
      return { lease: leaseOf(db, key, row) }
    },
    renew: (lease, ms) => renew('all', { lease, ms }),
    async release({ key, token }) {
      await db.repeatable(
        `update ${db.s}.sessions set held_until = 0 where tenant = $1 and owner = $2 and agent = $3 and id = $4 and token = $5`,
        ...[...at(key), token],
      )
    },
  }
}

/** What `take_lease` gave. */
export function leaseOf(db: Database, key: SessionKey, row: Row): Lease {
  const taken = { key, token: Number(row.token_), version: Number(row.version_) }
  const lease: Lease = row.open_ === true ? { ...taken, open: true } : taken
  db.given.add(lease)
  return lease
}

/** Since when a writer writes: the token of its lease, else when its run began by the server's clock. */
export async function since(
  db: Database,
  by: Writer | undefined,
): Promise<[lease: number | null, began: number | null]> {
  if (by === undefined) return [null, null]
  if (by.lease !== undefined && db.given.has(by.lease)) return [by.lease.token, null]
  return [null, await db.clock.timeOf(by.since)]
}

interface Renewal {
  readonly lease: Lease
  readonly ms: number
}

/** Those of all sessions that this process runs, in one statement; whether each is still held. */
async function renewed(db: Database, renewals: readonly Renewal[]): Promise<boolean[]> {
  const asked = renewals.map(({ lease: { key, token }, ms }) => [...at(key), token, ms])
  const columns = [0, 1, 2, 3, 4, 5].map((column) => asked.map((row) => row[column]))
  const rows = await db.repeatable(
    `update ${db.s}.sessions s set held_until = ${db.s}.now_ms() + a.ms
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::double precision[])
       as a(tenant, owner, agent, id, token, ms)
     where s.tenant = a.tenant and s.owner = a.owner and s.agent = a.agent and s.id = a.id and s.token = a.token and s.held_until > 0
     returning s.tenant, s.owner, s.agent, s.id, s.token`,
    ...columns,
  )
  const held = new Set(
    rows.map(({ tenant, owner, agent, id, token }) => JSON.stringify([tenant, owner, agent, id, Number(token)])),
  )
  return renewals.map(({ lease: { key, token } }) => held.has(JSON.stringify([...at(key), token])))
}
