import type { SessionKey } from '@allium/core'
import type { SessionStore, StoredSession } from '@allium/store'
import {
  checkKey,
  checkName,
  checkOwner,
  headFromRow,
  historyFromRows,
  type OutboxOptions,
  openPart,
  pageBytes,
  retryRead,
  turnsFromRows,
} from '@allium/store-sql'
import { keyParams } from '../lease/leases.ts'
import { SqliteOutbox } from '../outbox/outbox.ts'
import type { StoreParts } from '../store-parts.ts'
import { Eraser } from './eraser.ts'
import { SessionLists } from './session-lists.ts'
import { openTurnSeq, readTurns } from './turn-rows.ts'
import { Turns } from './turns.ts'

const turnsMatch = 'tenant = ?1 and owner = ?2 and agent = ?3 and session = ?4'

/** Sessions in a SQLite file. */
export function sqliteSessions(parts: StoreParts, options: OutboxOptions): SessionStore {
  const { db, clock, leases, erasures, blobs } = parts
  const turns = new Turns(parts)
  const lists = new SessionLists(parts)
  const eraser = new Eraser(db, erasures, blobs)
  return {
    async load(key, { version } = {}) {
      const checkedKey = checkKey({ ...key })
      return retryRead(() => loadSession(parts, turns, checkedKey, version))
    },
    async head(key, { turnId = null } = {}) {
      const checkedKey = checkKey({ ...key })
      return retryRead(async () => {
        const row = db.get(selectHead, ...keyParams(checkedKey), turnId)
        return row && headFromRow(checkedKey, row, blobs)
      })
    },
    async history(key, { before, limit }) {
      const checkedKey = checkKey({ ...key })
      return retryRead(async () =>
        turnsFromRows(
          checkedKey,
          readTurns(db, () => db.all(selectPage, ...keyParams(checkedKey), before, limit)),
          blobs,
        ),
      )
    },
    acquire: async (key, ms) => leases.acquire(checkKey({ ...key }), ms),
    renew: async (lease, ms) => leases.renew(lease, ms),
    release: (lease) => db.writeUnsynced(() => void leases.release(lease)),
    checkpoint: (lease, version, turn) => turns.checkpoint(lease, version, turn),
    append: (lease, version, turn, { release = false } = {}) => turns.append(lease, version, turn, release),
    find: async (key, by, { files } = {}) => turns.find(checkKey({ ...key }), by, files),
    async rename(key, names, { lease } = {}) {
      const checkedKey = checkKey({ ...key })
      // Most agents have only one name.
      if (names.every((agent) => agent === key.agent)) return false
      const { AgentRenames } = await import('@allium/store-sqlite/late')
      return new AgentRenames(db, clock, leases).adopt(checkedKey, names, lease)
    },
    list: async (turnsOfSession) => lists.list(checkOwner(turnsOfSession)),
    pendingCalls: async (turnsOfSession) => lists.pendingCalls(checkOwner(turnsOfSession)),
    findPendingCall: async (turnsOfSession) =>
      lists.findPendingCall({ ...turnsOfSession, tenant: checkName('tenant', turnsOfSession.tenant) }),
    delete: async (key) => lists.delete(checkKey(key)),
    erase: async (turnsOfSession) => eraser.erase(checkOwner(turnsOfSession)),
    expire: async (turnsOfSession) => lists.expire(turnsOfSession),
    outbox: new SqliteOutbox(db, clock, blobs, options),
  }
}

const selectHead = `
  select s.open_turn, t.seq, t.turn_id, t.sealed_as, t.rest from sessions s left join turns t
  on t.tenant = s.tenant and t.owner = s.owner and t.agent = s.agent and t.session = s.id
  and t.seq >= 0 and iif(?5 is null, t.seq = s.version - 1, t.turn_id = ?5)
  where s.tenant = ?1 and s.owner = ?2 and s.agent = ?3 and s.id = ?4 and (?5 is null or t.seq >= 0)`

/** Only the open run is read whole. */
const columnsOfOpenTurn = 'idempotency_key status started_at ended_at usage count digest rest info'
  .split(' ')
  .map((column) => `iif(seq < 0, ${column}, null) as ${column}`)
  .join()

/**
 * Finds the newest turn that starts before the page's end. After the last rewind to before that, all turns with lower starts come first.
 * Each row of the page has the lowest start of the rows before it, and their bytes. Both are read without the messages themselves.
 */
const selectPage = `
  with recursive newest(low, high, until) as (
    select iif(length <= ?5, version - 1, coalesce((select seq from turns
      where ${turnsMatch} and rewinds = 1 and start < ?5 order by seq desc limit 1), 0)), version - 1, min(length, ?5)
    from sessions where tenant = ?1 and owner = ?2 and agent = ?3 and id = ?4
    union all select iif(start < ?5, seq, low), iif(start < ?5, high, seq - 1), until
    from newest cross join turns on ${turnsMatch} and seq = (low + high + 1) / 2 where low < high),
  page as (select seq, min(start) over newer as reached, sum(size) over newer as bytes from (
    select seq, start, length(messages) as size from turns
    where ${turnsMatch} and seq between 0 and (select max(low) from newest) and start < ?5 order by seq desc limit ?6)
    window newer as (order by seq desc rows between unbounded preceding and 1 preceding))
  select n, seq, turn_id, start, sealed_as, messages, ${columnsOfOpenTurn} from turns where ${turnsMatch}
  and seq in (select ${openTurnSeq} union all select seq from page where reached is null or (bytes < ${pageBytes}
    and reached > (select until from newest limit 1) - ?6))
  order by seq < 0 desc, seq desc`

/** The turns up to the version, each beside the session. A session without turns is one row. */
const selectSession = `
  select s.version as last, s.open_turn, t.seq, t.turn_id, t.start, t.messages, t.sealed_as,
  iif(t.seq = coalesce(?5, s.version) - 1, t.rest, null) as rest
  from sessions s left join turns t on t.tenant = s.tenant and t.owner = s.owner and t.agent = s.agent and t.session = s.id
  and t.seq >= 0 and t.seq < coalesce(?5, s.version)
  where s.tenant = ?1 and s.owner = ?2 and s.agent = ?3 and s.id = ?4 order by t.seq`

async function loadSession(
  { db, blobs }: StoreParts,
  turns: Turns,
  key: SessionKey,
  requestedVersion: number | undefined,
): Promise<StoredSession | undefined> {
  const rows = db.all(selectSession, ...keyParams(key), requestedVersion ?? null)
  const [session] = rows
  if (session === undefined) return undefined
  const last = Number(session.last)
  const version = requestedVersion ?? last
  const isOpen = session.open_turn !== null && version === last
  const open = isOpen ? await turns.open(key) : undefined
  if ((version === 0 && open === undefined) || version > last) return undefined
  const ended = rows.filter(({ seq }) => seq !== null)
  const rest = ended.at(-1)
  const stored: StoredSession = {
    version,
    owner: key.owner,
    history: await historyFromRows(key, ended, blobs),
    rest: rest === undefined ? { state: {} } : ((await openPart(key, rest, 'rest', blobs)) as StoredSession['rest']),
  }
  return open === undefined ? stored : { ...stored, open }
}
