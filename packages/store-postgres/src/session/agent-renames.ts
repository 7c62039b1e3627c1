import type { Lease, SessionKey } from '@allium/core'
import { heldByOtherAgent } from '@allium/store'
import type { Database } from '../database/database.ts'
import { keyParams } from '../database/keys.ts'

/** Moves a session of a renamed agent from one of its former names to the agent of the key. Returns whether one was moved. */
export async function adoptSession(
  db: Database,
  key: SessionKey,
  names: readonly string[],
  lease: Lease | undefined,
): Promise<boolean> {
  const otherNames = names.filter((agent) => agent !== key.agent)
  if (otherNames.length === 0) return false
  const [row] = await db.queryIdempotent(
    `select * from ${db.s}.adopt_session($1, $2, $3, $4, $5, $6)`,
    ...[...keyParams(key), otherNames, lease?.token ?? null],
  )
  if (row?.outcome_ === 'held') throw heldByOtherAgent(key, Math.ceil(Number(row.held_until_)))
  return row?.outcome_ === 'moved'
}
