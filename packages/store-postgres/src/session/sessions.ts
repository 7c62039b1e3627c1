import type { SessionKey } from '@allium/core'
import type { SessionStore, StoredSession } from '@allium/store'
import {
  type Blobs,
  checkName,
  headFromRow,
  historyFromRows,
  type OutboxOptions,
  openPart,
  pageBytes,
  parseTurnRow,
  retryRead,
  type Sealer,
  turnFromRow,
  turnsFromRows,
} from '@allium/store-sql'
import type { Database, Row } from '../database/database.ts'
import { checkSessionKey, keyParams } from '../database/keys.ts'
import { postgresLeases } from '../lease/leases.ts'
import { postgresOutbox } from '../outbox/outbox.ts'
import { adoptSession } from './agent-renames.ts'
import { SessionLists } from './session-lists.ts'
import { partsOfTurn, Turns } from './turns.ts'

/** Sessions in Postgres. */
export function postgresSessions(
  db: Database,
  parts: { sealer: Sealer; blobs: Blobs },
  options: OutboxOptions,
): SessionStore {
  const { blobs } = parts
  const turns = new Turns(db, parts)
  const lists = new SessionLists(db, parts)
  return {
    async load(requestedKey, { version } = {}) {
      const key = checkSessionKey({ ...requestedKey })
      return retryRead(() => loadSession(db, blobs, key, version))
    },
    async head(requestedKey, { turnId } = {}) {
      const key = checkSessionKey({ ...requestedKey })
      return retryRead(async () => {
        const [row] = await selectHead(db, key, turnId)
        return row && headFromRow(key, row, blobs)
      })
    },
    async history(requestedKey, { before, limit }) {
      const key = checkSessionKey({ ...requestedKey })
      return retryRead(async () => turnsFromRows(key, await selectPage(db, key, before, limit), blobs))
    },
    rename: async (key, names, { lease } = {}) => adoptSession(db, checkSessionKey({ ...key }), names, lease),
    ...postgresLeases(db),
    checkpoint: (lease, version, turn) => turns.store({ lease, version, turn, ended: false, release: false }),
    append: (lease, version, turn, { release = false } = {}) =>
      turns.store({ lease, version, turn, ended: true, release }),
    find: async (key, by, { files } = {}) => turns.find(checkSessionKey({ ...key }), by, files),
    list: (query) => lists.list(query),
    pendingCalls: (query) => lists.pendingCalls(query),
    findPendingCall: (query) => lists.findPendingCall(query),
    delete: async (key) => lists.delete(checkSessionKey({ ...key })),
    erase: (scope) => lists.erase(scope),
    expire: (query) => lists.expire(query),
    outbox: postgresOutbox(db, blobs, options),
  }
}

const turnsMatch = 'tenant = $1 and owner = $2 and agent = $3 and session = $4'

function selectHead(db: Database, key: SessionKey, turnId: string | undefined): Promise<Row[]> {
  const condition =
    turnId === undefined
      ? 't.seq = s.version - 1'
      : 'hashtextextended(t.turn_id, 0) = hashtextextended($5, 0) and t.turn_id = $5'
  return db.queryIdempotent(
    `select s.open_turn, t.seq, t.turn_id, t.sealed_as, t.rest from ${db.s}.sessions s
     ${turnId === undefined ? 'left ' : ''}join ${db.s}.turns t on t.tenant = s.tenant and t.owner = s.owner
       and t.agent = s.agent and t.session = s.id and t.seq >= 0 and ${condition}
     where s.tenant = $1 and s.owner = $2 and s.agent = $3 and s.id = $4`,
    ...keyParams(key),
    ...(turnId === undefined ? [] : [checkName('id of the turn', turnId)]),
  )
}

/** Only the open run is read whole. */
const columnsOfOpenTurn = 'idempotency_key status started_at ended_at usage count digest rest info'
  .split(' ')
  .map((column) => `case when seq < 0 then ${column} end as ${column}`)
  .join()

/**
 * Finds the newest turn that starts before the page's end. After the last rewind to before that, all turns with lower starts come first.
 * Each row of the page has the lowest start of the rows before it, and their bytes. Both are read without the messages themselves.
 */
function selectPage(db: Database, key: SessionKey, before: number, limit: number): Promise<Row[]> {
  return db.queryIdempotent(
    `with recursive newest(low, high, until) as (
       select case when length <= $5 then version - 1 else coalesce((select seq from ${db.s}.turns
         where ${turnsMatch} and rewinds and start < $5 order by seq desc limit 1), 0) end, version - 1, least(length, $5)
       from ${db.s}.sessions where tenant = $1 and owner = $2 and agent = $3 and id = $4
       union all select case when start < $5 then seq else low end, case when start < $5 then high else seq - 1 end, until
       from newest join ${db.s}.turns on ${turnsMatch} and seq = (low + high + 1) / 2 where low < high),
     page as (select seq, min(start) over newer as reached, sum(size) over newer as bytes from (
       select seq, start, octet_length(messages) as size from ${db.s}.turns
       where ${turnsMatch} and seq between 0 and (select max(low) from newest) and start < $5 order by seq desc limit $6) t
       window newer as (order by seq desc rows between unbounded preceding and 1 preceding))
     select seq, turn_id, start, sealed_as, messages, ${columnsOfOpenTurn}, ${partsOfTurn(db.s)}
     from ${db.s}.turns t where ${turnsMatch}
     and seq in (select -1 union all select seq from page where reached is null or (bytes < ${pageBytes}
       and reached > (select until from newest limit 1) - $6))
     order by seq < 0 desc, seq desc`,
    ...keyParams(key),
    before,
    limit,
  )
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
       case when t.seq = -1 then t.info end as info, ${partsOfTurn(db.s)}
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
