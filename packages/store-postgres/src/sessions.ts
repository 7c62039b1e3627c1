import type { SessionKey } from '@allium/core'
import type { SessionStore, StoredSession } from '@allium/store'
import {
  type Blobs,
  historyFromRows,
  type OutboxOptions,
  openPart,
  parseTurnRow,
  retryRead,
  type Sealer,
  turnFromRow,
} from '@allium/store-sql'
import { adoptSession } from './agent-renames.ts'
import type { Database } from './database.ts'
import { checkSessionKey, keyParams } from './keys.ts'
import { postgresLeases } from './leases.ts'
import { postgresOutbox } from './outbox.ts'
import { postgresLists } from './session-lists.ts'
import { postgresTurns } from './turns.ts'

/** Sessions in Postgres. */
export function postgresSessions(
  db: Database,
  { sealer, blobs }: { sealer: Sealer; blobs: Blobs },
  options: OutboxOptions,
): SessionStore {
  return {
    async load(requestedKey, { version } = {}) {
      const key = checkSessionKey({ ...requestedKey })
      return retryRead(() => loadSession(db, blobs, key, version))
    },
    rename: async (key, names, { lease } = {}) => adoptSession(db, checkSessionKey({ ...key }), names, lease),
    ...postgresLeases(db),
    ...postgresTurns(db, sealer, blobs),
    ...postgresLists(db, sealer, blobs),
    outbox: postgresOutbox(db, blobs, options),
  }
}

/**
 * Reads everything in one statement and so at one moment: the runs up to the version, the rest after the last of them, and the open run.
 */
async function loadSession(
  db: Database,
  blobs: Blobs,
  key: SessionKey,
  requestedVersion: number | undefined,
): Promise<StoredSession | undefined> {
  const rows = await db.queryIdempotent(
    `select s.version as last, t.seq, t.turn_id, t.start, t.messages, t.sealed_as,
       case when t.seq = coalesce($5, s.version) - 1 or t.seq = -1 then t.rest end as rest,
       t.idempotency_key, t.status, t.started_at, t.ended_at, t.usage, t.count, t.digest,
       case when t.seq = -1 then t.info end as info
     from ${db.s}.sessions s
     left join ${db.s}.turns t on t.tenant = s.tenant and t.owner = s.owner and t.agent = s.agent and t.session = s.id
       and t.seq < coalesce($5, s.version)
     where s.tenant = $1 and s.owner = $2 and s.agent = $3 and s.id = $4 order by t.seq`,
    ...keyParams(key),
    requestedVersion ?? null,
  )
  const last = Number(rows[0]?.last ?? 0)
  const version = requestedVersion ?? last
  const turns = rows.filter(({ seq }) => Number(seq ?? -1) >= 0)
  const open = version === last ? rows.find(({ seq }) => seq === -1) : undefined
  if ((version <= 0 && open === undefined) || version > last) return undefined
  const rest = turns.at(-1)
  const stored: StoredSession = {
    version,
    owner: key.owner,
    history: await historyFromRows(key, turns, blobs),
    rest: rest === undefined ? { state: {} } : ((await openPart(key, rest, 'rest', blobs)) as StoredSession['rest']),
  }
  return open === undefined ? stored : { ...stored, open: await turnFromRow(key, parseTurnRow(open), blobs) }
}
