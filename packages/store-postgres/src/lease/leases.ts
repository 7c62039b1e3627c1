import type { Lease, SessionKey, Writer } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { batchByKey } from '../database/batch.ts'
import { columnsOf, type Database, type Row } from '../database/database.ts'
import { checkSessionKey, keyParams } from '../database/keys.ts'

/** Which process may write to a session, and until when, by the server's clock. */
export function postgresLeases(db: Database): Pick<SessionStore, 'acquire' | 'renew' | 'release'> {
  const renew = batchByKey<Renewal, boolean>((renewals) => renewAll(db, renewals))
  return {
    async acquire(requestedKey, ms) {
      const key = checkSessionKey({ ...requestedKey })
      const erasedFirst = `(select ${db.s}.forget_erased($1, $2, $3, $4)) gone`
      const sql = `select t.* from ${erasedFirst}, lateral ${db.s}.take_session($1, $2, $3, $4, $5, null) t`
      const [row] = await db.queryOnce(sql, ...keyParams(key), ms)
      if (row === undefined || row.token_ === null) return { heldUntil: Math.ceil(Number(row?.held_until_)) }
      return { lease: issueLease(db, key, row) }
    },
    renew: (lease, ms) => renew('all', { lease, ms }),
    async release({ key, token }) {
      await db.queryIdempotent(
        `update ${db.s}.sessions set held_until = 0 where tenant = $1 and owner = $2 and agent = $3 and id = $4 and token = $5`,
        ...[...keyParams(key), token],
      )
    },
  }
}

/** Creates the lease from a row of `take_session`. */
export function issueLease(db: Database, key: SessionKey, row: Row): Lease {
  const acquired = { key, token: Number(row.token_), version: Number(row.version_) }
  const lease: Lease = row.open_ === true ? { ...acquired, open: true } : acquired
  db.issuedLeases.add(lease)
  return lease
}

/** Returns since when a writer writes: the token of its lease, or else the start of its run by the server's clock. */
export async function writerSince(
  db: Database,
  by: Writer | undefined,
): Promise<[lease: number | null, began: number | null]> {
  if (by === undefined) return [null, null]
  if (by.lease !== undefined && db.issuedLeases.has(by.lease)) return [by.lease.token, null]
  return [null, await db.clock.toServerTime(by.since)]
}

interface Renewal {
  readonly lease: Lease
  readonly ms: number
}

/** Renews the leases of all sessions that this process runs in one statement. Returns whether each is still held. */
async function renewAll(db: Database, renewals: readonly Renewal[]): Promise<boolean[]> {
  const renewalRows = renewals.map(({ lease: { key, token }, ms }) => [...keyParams(key), token, ms])
  const rows = await db.queryIdempotent(
    `update ${db.s}.sessions s set held_until = ${db.s}.now_ms() + a.ms
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::double precision[])
       as a(tenant, owner, agent, id, token, ms)
     where s.tenant = a.tenant and s.owner = a.owner and s.agent = a.agent and s.id = a.id and s.token = a.token and s.held_until > 0
     returning s.tenant, s.owner, s.agent, s.id, s.token`,
    ...columnsOf(6, renewalRows),
  )
  const held = new Set(
    rows.map(({ tenant, owner, agent, id, token }) => JSON.stringify([tenant, owner, agent, id, Number(token)])),
  )
  return renewals.map(({ lease: { key, token } }) => held.has(JSON.stringify([...keyParams(key), token])))
}
